"""Briefs on portfolios, orders and trade records."""

from __future__ import annotations

from evaluators.professional.briefs import Brief

REBALANCING = Brief(
    usual=(
        "{client} is to be rebalanced to its target weights. Prepare the trade list and a memo for the trading desk.\n"
        "Conventions: net asset value is the value of all shares plus cash. The target number of shares of a line is "
        "its target weight times the net asset value divided by its price, rounded down to a whole share. The cost of "
        "a trade is the fee in basis points of its absolute value, paid from cash. Lines that need no trade stay in "
        "the list.",
        "Bring the portfolio of {client} back to target and tell the desk what to trade. The net asset value counts "
        "all shares at their prices and the cash. Each line gets the whole number of shares just at or below target "
        "weight times net asset value over price (rounded down). Every trade costs the fee on its absolute value, "
        "taken from cash. Keep lines without a trade in the list.",
        "The desk needs a trade list for {client}. Start from net asset value, the shares at market plus cash; then, "
        "line by line, target weight times net asset value divided by the price, rounded down to a whole share, less "
        "what is held. Costs are a fee on the absolute value of each trade and come out of cash. A line that needs no "
        "trade is listed all the same.",
        "Assignment: rebalancing of {client} to target weights, with trade list and memo.\n- Net asset value: all "
        "shares at their price, plus cash.\n- Target shares: target weight times net asset value over price, rounded "
        "down to a whole share.\n- Cost: the fee on the absolute value of the trade, paid from cash.\n- Lines without "
        "a trade stay in the list.",
        "Since the last review the weights of {client} have drifted. Compute the trades that restore the targets. What "
        "a line should hold is its target weight times the net asset value (shares and cash together) divided by its "
        "price; fractions of a share are dropped, so round down. The broker's fee applies to the absolute value of "
        "every trade and is paid from cash. Also list lines in which nothing is traded, and brief the desk in a memo.",
    ),
    held_back=(
        "Positions and targets of {client} no longer agree. Say how many shares of each line have to be bought or "
        "sold so that it holds, in whole shares rounded down, its target weight of the net asset value at the current "
        "price. Net asset value means cash plus the market value of all shares. Trades are charged the fee on their "
        "absolute value out of cash; a line with no trade remains in the list. The desk gets list and memo.",
        "Trading wants instructions for {client}. Find the net asset value first (every share at its price, and the "
        "cash). Multiply it by the target weight of a line, divide by the line's price and cut off to a whole number, "
        "that is, rounded down; the difference to the present position is the trade. A fee is due on the absolute "
        "value of each trade and reduces cash. Do not leave out lines whose trade is nil.",
    ),
)
SHORTFALL = Brief(
    usual=(
        "An order to {side} shares of {ticker} was decided at the arrival price and filled in part. Prepare the table "
        "of fills and a memo on the cost of execution.\nConventions: a cost is positive, a gain negative; for a sale, "
        "a price below arrival is a cost. The shares that were not filled are valued at the close against the arrival "
        "price. Fees are in basis points of the traded value.",
        "What did it cost to {side} {ticker}? The order was decided at the arrival price and not completed. Go through "
        "the fills and report to the committee. Costs are positive and gains negative, which for a sale makes a price "
        "below arrival a cost and for a purchase one above it. Value the unfilled shares at the close against the "
        "arrival price; fees are a rate on the traded value.",
        "The execution of an order to {side} {ticker} is to be reviewed. It was taken at the arrival price, worked in "
        "pieces and left unfinished. Measure each fill, and the order as a whole, against arrival: a cost is "
        "positive, a gain negative (a sale below arrival costs). What was not filled counts at the close "
        "against the arrival price. On the traded value a fee is due.",
        "Assignment: implementation shortfall of an order to {side} {ticker}, by fill and in total.\n- Benchmark: the "
        "arrival price.\n- Sign: cost positive, gain negative; a sale below arrival is a cost.\n- Unfilled shares: at "
        "the close against the arrival price.\n- Fees: a rate on the traded value.",
        "Best execution review. The desk was told to {side} {ticker} when the price was at arrival; part of the order "
        "was filled, the rest lapsed at the close. List the fills with their slippage and explain the whole cost, fee "
        "on the traded value included. For the part that lapsed, compare close and arrival price. A positive figure is "
        "always a cost and a negative one a gain, so that selling below arrival, like buying above, is positive.",
    ),
    held_back=(
        "Somebody asked the desk to {side} a block of {ticker}. At that moment the arrival price stood; by the close "
        "only a part had been filled. Report what this came to, fill by fill and altogether, fees on the traded value "
        "included. Shares never filled are taken at the close against arrival. Write costs as positive numbers and "
        "gains as negative ones; on a sale a price below arrival is a cost.",
        "Review how well an order to {side} {ticker} was executed. Everything is measured from the arrival price: "
        "fills at their own prices, the part without a fill at the close. Fees come as a rate on the traded value. "
        "Mind the sign, positive for a cost and negative for a gain, whichever side the order is on (below arrival is "
        "a cost for a sale). The committee gets a table of fills and a memo on the cost.",
    ),
)
BLOTTER = Brief(
    usual=(
        "The blotter of a desk was exported from three systems. Clean it, compute the realised profit of each share "
        "first in first out, and report.\nConventions: a record with status CANCELLED is excluded. Of several records "
        "with the same id, one counts and the others are excluded. Within a share, trades are taken in the order of "
        "their dates. Dates are YYYY-MM-DD, DD-Mon-YYYY or YYYYMMDD. There are no opening positions, fees or short "
        "sales.",
        "What has the desk earned? Its blotter comes out of three systems, each of which writes dates (YYYY-MM-DD, "
        "DD-Mon-YYYY or YYYYMMDD), sides, quantities and prices in its own way. Leave out whatever is CANCELLED, and "
        "of records that share an id all but one. Match sales with purchases first in first out, share by share, in "
        "the order of dates. The desk began without positions, never sold short and paid no fees.",
        "Operations needs the realised profit by share out of the trade records below. They are untidy: three systems "
        "wrote them, some records are CANCELLED (excluded), some ids come more than once (one record counts, its "
        "repeats are excluded). Dates read YYYY-MM-DD, DD-Mon-YYYY or YYYYMMDD, and by date the trades of a share are "
        "ordered. Lots are sold first in first out. Nothing was held before, there are no fees and no short sales.",
        "Assignment: clean a trade blotter and report realised profit.\n- Exclude records with status CANCELLED.\n- "
        "Where an id comes several times, one record counts and the others are excluded.\n- Dates: YYYY-MM-DD, "
        "DD-Mon-YYYY or YYYYMMDD; trades of a share in the order of dates.\n- Lots: first in first out.\n- No opening "
        "positions, no fees, no short sales.",
        "An export of trades has to be reconciled before the month can be closed. Its records stem from three systems "
        "with different habits; a date may be written YYYY-MM-DD, DD-Mon-YYYY or YYYYMMDD. CANCELLED records do not "
        "count, nor do repeats of an id beyond one. With what remains, ordered by date, work out for every share what "
        "was realised first in first out and what is still held. All positions start at zero; short sales and fees do "
        "not occur. Write it up for operations.",
    ),
    held_back=(
        "Three systems feed one list of trades, and it shows. Put it in order: drop the records marked CANCELLED, and "
        "keep a single one of those with the same id (the rest are excluded). Read dates in any of the forms "
        "YYYY-MM-DD, DD-Mon-YYYY and YYYYMMDD. For each share, then, in date order and first in first out: what profit "
        "was realised, and what is left? There were no positions at the start, no fees, no short sales.",
        "Before anyone can trust the profit of the desk, its records have to be cleaned. Excluded are CANCELLED ones "
        "and, for an id that appears again, every record but one. The remaining trades of a share are taken by date "
        "(formats in use: YYYY-MM-DD, DD-Mon-YYYY, YYYYMMDD), sales using up the oldest lots, first in first out. "
        "Assume flat opening positions, no fees and no short sales. Report profit, positions and the state of the "
        "records to operations.",
    ),
)
PAPER = Brief(
    usual=(
        "Trade on the paper account of the trading simulator and report what it cost. Open the account with the "
        "initial cash, its clock starting on {first}, place the orders of the first day, let time pass to {second}, "
        "place the others, and let time pass to {as_of}.\nConventions of the simulator: a market order is filled at "
        "the open of the first trading day after it was placed. It pays half a spread of {half_spread} basis point "
        "and an impact of {impact} basis points times the root of its shares over the day's volume, against the "
        "trader, and a fee of {fee} basis point of the value at the fill price.",
        "Carry out the orders below in the trading simulator and account for their cost. The paper account is opened "
        "with the initial cash on {first}; the orders of that day are placed at once, the others once the clock stands "
        "on {second}; the account is then carried forward to {as_of}. You should know how the simulator fills: a "
        "market order gets the open of the next trading day after it was placed, moved against you by half a spread "
        "({half_spread} basis point) and by an impact of {impact} basis points times the root of shares over that "
        "day's volume; the fee is {fee} basis point of the value at the fill price.",
        "The best execution committee wants a rehearsal of a small programme on the paper account. Begin on {first} "
        "with the initial cash and the orders of that day, advance to {second} for the remaining ones, and advance to "
        "{as_of} for the final account. Fills in the trading simulator: the open of the first trading day after "
        "placing, worse by half a spread of {half_spread} basis point and an impact of {impact} basis points times "
        "the root of the order's shares over the volume of the day, plus a fee of {fee} basis point on the value at "
        "the fill price.",
        "Assignment: trade an order list on the paper account (trading simulator) and report the costs.\n- {first}: "
        "open the account with the initial cash and place the orders of this day.\n- {second}: place the others.\n- "
        "{as_of}: read the final account.\n- Fill: the open of the first trading day after placing, against the "
        "trader by half a spread of {half_spread} basis point and an impact of {impact} basis points times the root of "
        "shares over the day's volume.\n- Fee: {fee} basis point of the value at the fill price.",
        "Use the trading simulator to find out what a list of orders costs. Its clock has to start on {first}, when "
        "you open a paper account with the initial cash and place that day's orders. Let it run to {second}, place the "
        "rest, and let it run to {as_of}. Orders are market orders and meet the open of the trading day that follows. "
        "Against you go half a spread, {half_spread} basis point, and an impact, {impact} basis points times the root "
        "of shares over the volume of that day; the fee takes {fee} basis point of the value at the fill price.",
    ),
    held_back=(
        "We would like to see this programme traded on paper. In the trading simulator, set up an account on {first} "
        "holding the initial cash, enter what is due that day, move the clock to {second}, enter the remainder and "
        "finish on {as_of}. The simulator executes a market order at the open of the first trading day after its "
        "placing; half a spread of {half_spread} basis point and an impact of {impact} basis points times the root of "
        "its shares over the day's volume make the price worse, and {fee} basis point of the value at the fill price "
        "is charged as fee. Report all costs.",
        "Two batches of orders are to be run through the paper account of the trading simulator: the first on "
        "{first}, the day the account is opened with the initial cash, the second on {second}. Close the books on "
        "{as_of} and report what trading has cost. For reference, fills come at the next trading day's open, less "
        "favourable by {half_spread} basis point (half a spread) and by {impact} basis points times the root of shares "
        "over the volume of that day (impact); fees are {fee} basis point of the value at the fill price.",
    ),
)
