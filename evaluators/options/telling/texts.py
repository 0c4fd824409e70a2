"""The texts that put each family: five usual ones, then two that are held back.

In braces stands what :meth:`evaluators.options.problem.Problem.words` of the template returns, every time all of it.
"""

from __future__ import annotations

USUAL = 5
"""Texts of a family that are drawn without an option; the others are held back."""

TEXTS: dict[str, tuple[str, ...]] = {
    "fair_value": (
        "Value the call and the put below. Then suppose that you own {contracts} of the calls, bought at that value, "
        "and judge their profit, Greeks per share and risk. Finally build, from these two options alone, what gains "
        "and loses at expiry like {shares} shares of stock held {side}.",
        "A client asks what the two options described here are worth, and what holding {contracts} of the calls, paid "
        "for at that worth, would mean. Besides, she wants {shares} shares {side} replicated at expiry by nothing but "
        "this call and this put.",
        "Two options, one strike. Price both; take {contracts} calls as bought at your price and report on them; and "
        "write down the {side} synthetic position in {shares} shares that the two make at expiry.",
        "Before the open you need three things: model values of both options, the figures of {contracts} calls "
        "acquired at model value, and the legs that stand in for {shares} shares held {side} until expiry.",
        "Your book may not touch the stock. Replace {shares} shares, {side}, by the call and the put given here, and "
        "state what both are worth and what {contracts} calls bought at that worth do.",
        "Imagine {contracts} calls bought at their theoretical worth: report that worth, the put's as well, and what "
        "the calls earn and risk. In a second step, put together the options that are equivalent at expiry to having "
        "{shares} shares {side}.",
        "What should these contracts cost in theory? Judge a purchase of {contracts} calls made at exactly that cost, "
        "then hand in option legs whose payoff is that of {shares} shares {side}.",
    ),
    "quoted_option": (
        "You are convinced that the option should be priced at the volatility of the underlying given below. Value "
        "it so, find the volatility that its quote implies, and trade {contracts} contracts on the side that gains "
        "if you are right, hedged with stock to a delta, at your volatility, within {contracts} shares of zero.",
        "The call is quoted, and you have a volatility of your own: that of the underlying. Work out value and "
        "implied volatility, and take the side your view speaks for with {contracts} calls and enough stock that the "
        "delta (at your volatility) is no more than {contracts} shares either way.",
        "Is the quoted call cheap or dear, if the underlying's volatility is the truth? Say by how much, and trade "
        "{contracts} of it accordingly, delta hedged in stock to within {contracts} shares by that volatility.",
        "A market maker shows the quote below. You trust the volatility told for the underlying more than his. Deal "
        "in {contracts} contracts, the way that pays when you are right, and neutralise the delta by shares, leaving "
        "at most {contracts}.",
        "Relative value: one call, one quote, and the underlying's volatility as your belief. {contracts} contracts "
        "are to be traded in the right direction together with the shares that bring the delta to within {contracts} "
        "of nothing.",
        "Your model uses the underlying's volatility; the exchange evidently uses another one. Find the other one, "
        "and exploit the difference with {contracts} calls whose delta you offset in shares (at most {contracts} may "
        "be left, by your model).",
        "Compare what the call costs with what it is worth to somebody who holds the underlying's volatility for "
        "true. Enter {contracts} contracts for that person, with a share position such that no more than {contracts} "
        "shares of model delta remain.",
    ),
    "single_option": (
        "Give the value of the {kind} and its Greeks, and how that value changes if {event}, exactly and as delta, "
        "gamma and theta predict it. You have sold {contracts} contracts: make them delta-neutral with stock.",
        "You are short {contracts} of the {kind}s below. What is one worth per share, how does it react, what would "
        "happen if {event}, and which trade in the stock takes your delta away?",
        "Report on one {kind}: value, sensitivities, and the change when {event} (by revaluation, and by the second "
        "order expansion in spot and time). Then hedge the delta of {contracts} contracts that were sold.",
        "Suppose that {event}. Compare the true change of the {kind}'s value with the one that its Greeks foretell, "
        "and find the shares that neutralise {contracts} contracts written yesterday.",
        "A colleague wrote {contracts} {kind}s. Prepare for the case that {event}: value, Greeks, both estimates of "
        "the change per share, and the stock that covers the delta.",
        "Having written {contracts} contracts of the {kind}, you want the shares that leave no delta; besides the "
        "present worth and Greeks, and the effect, exact and approximate, if {event}.",
        "How good is the Taylor expansion here? Take the {kind} and let it be that {event}. State worth, Greeks and "
        "both changes, and offset a sale of {contracts} contracts in the underlying.",
    ),
    "net_delta": (
        "Give the exposure of the book below and its one-day value at risk, and make it delta-neutral with stock, to "
        "within {neutral} shares.",
        "How far is this book from neutral, and what can it lose in a day? Bring its delta to within {neutral} shares "
        "of zero by one trade in the stock.",
        "The risk desk wants delta, dollar delta and one-day value at risk of the positions listed, and the stock "
        "trade after which no more than {neutral} shares of delta are left.",
        "Judge the book by its delta alone: what it is, what part was bought and what part sold, what it risks. Then "
        "trade shares until at most {neutral} remain.",
        "You take over the positions below for the night. State their exposure and risk and flatten them in the "
        "stock, leaving {neutral} shares at most.",
        "Neutralise these options in the underlying ({neutral} shares of delta may stay), and report exposure and "
        "one-day risk as they were before.",
        "By how many shares does this book lean, and what may one day cost it? Put it upright, to {neutral} shares.",
    ),
    "value_at_risk_limit": (
        "Give the exposure of the book below and its one-day value at risk. Trade stock so that the 95% value at risk "
        "falls to at most {limit}, but keep at least 90% of that and stay on the same side of the market.",
        "The book may risk {limit} a day at 95%, and risks more. Cut it down with stock, using at least nine tenths "
        "of the allowance and without turning it round.",
        "Management has set a limit of {limit} for the daily 95% value at risk. Report what the positions do now and "
        "the trade in shares that respects the limit, leaves the sign of the delta as it is and uses at least 90% of "
        "the limit.",
        "Too much risk: bring the one-day 95% value at risk down to no more than {limit}, by shares alone, on the "
        "same side, with 90% or more of that amount still at work. First state exposure and risk as they are.",
        "What do these positions expose you to, and which stock trade makes their daily 95% value at risk fit under "
        "{limit} (no lower than 90% of it, and without turning long into short or short into long)?",
        "Keep the direction, lose the excess: shares are to be traded until 95% value at risk over a day is between "
        "90% and 100% of {limit}. Say what the book looks like beforehand.",
        "An allowance of {limit} (one day, 95%) has to be met by dealing in the underlying, neither overshooting by "
        "more than a tenth nor flipping the position; exposure and risk before the deal are to be stated.",
    ),
    "book_hedge": (
        "Give the Greeks of the whole book. Then hedge it with series that can be traded and with stock so that book "
        "and hedge together have a delta within {delta} shares and a vega within {vega} dollars per percentage point "
        "of zero, and say what happens when the stock moves by {move} either way.",
        "A book of options is yours. What are its sensitivities, what does a move of {move} up or down make of it "
        "with and without protection, and which trades bring delta to {delta} shares and vega to {vega} dollars a "
        "point at most?",
        "Neutralise the book in delta (to {delta} shares) and in vega (to {vega} dollars a percentage point), using "
        "stock and the quoted options, and show the profits for a jump of {move} either way before and after.",
        "Two limits bind you: {delta} shares of delta, {vega} dollars of vega per point. Find the hedge of the book "
        "that keeps both, and the residual profit when the underlying jumps by {move}.",
        "Report the Greeks of what is held, then trade options and shares until no more than {vega} dollars of vega "
        "per point and {delta} shares of delta are left; a move of {move} is the stress.",
        "What is held below leans on direction and on volatility. Remove both (tolerances: {delta} shares, {vega} "
        "dollars a point) and compare results for {move} up and down.",
        "The overnight book has to be flat: vega inside {vega} dollars per point, delta inside {delta} shares. Choose "
        "the instruments yourself and test the outcome at plus and minus {move}.",
    ),
    "iron_condor": (
        "You expect the index to stay calm. Build an iron condor of {contracts} contracts: sell a put and a call, buy "
        "a put further down and a call further up, the same number of each. It may lose at most {loss} at expiry, "
        "must not lose more than {stress} of its value if the index jumps by {move} either way at once, must bring a "
        "credit of at least {credit}, and must make money with a risk-neutral probability of at least {chance}.",
        "Sell calm: {contracts} iron condors, with a credit of at least {credit}, a loss at expiry of at most {loss}, "
        "a setback of no more than {stress} when the index gaps {move} up or down, and a probability of profit (risk "
        "neutral, at expiry) of no less than {chance}.",
        "A committee allows you one iron condor in {contracts} contracts of each leg. Its conditions: probability of "
        "profit {chance} or more, credit {credit} or more, worst case at expiry {loss} or less, and {stress} or less "
        "lost at once in a jump of {move} either way.",
        "From the series below choose four for an iron condor, {contracts} of each. Bounds: immediate loss in a "
        "{move} jump either way up to {stress}; loss at expiry up to {loss}; credit from {credit}; risk-neutral "
        "chance of a profit from {chance}.",
        "Range-bound markets pay premium. Collect at least {credit} with {contracts} iron condors whose loss stays "
        "under {loss} at expiry and under {stress} in a sudden move of {move}, and that win with a chance of "
        "{chance} or better.",
        "Put spread below, call spread above, both sold, {contracts} times: an iron condor that takes in {credit} or "
        "more, wins at expiry with a probability of {chance} or more, and never costs more than {loss} (or {stress} "
        "on the spot if prices leap by {move}).",
        "Design {contracts} condors out of puts and calls with bought wings. They should earn {credit} up front, risk "
        "{loss} at most, survive a leap of {move} either way at once with {stress} of damage at most, and be "
        "profitable in {chance} of the cases or more.",
    ),
    "debit_spread": (
        "You expect the stock to {direction}. Build a {name} of {contracts} contracts (buy one strike, sell another "
        "further {further}) that costs at most {cost}, whose largest profit is at least {ratio} times its largest "
        "loss, and which makes money at expiry with a risk-neutral probability of at least {chance}.",
        "With {cost} to spend and the view that the stock will {direction}, buy a {name}, {contracts} contracts, the "
        "sold strike further {further}; for each dollar at risk it has to be able to make {ratio}, and its "
        "risk-neutral probability of a profit at expiry may not be under {chance}.",
        "A {name} is wanted: {contracts} contracts, {cost} at most, a reward of {ratio} or more for every dollar of "
        "risk, and a profit at expiry in {chance} of cases or more (risk neutral). The second strike lies further "
        "{further}, since prices are to {direction}.",
        "Prices will {direction}, you think. Choose two strikes for a {name} in {contracts} contracts, sell the one "
        "further {further}, pay no more than {cost} and demand {ratio} of gain per unit of loss, with no less than "
        "{chance} as the risk-neutral probability of gaining at expiry.",
        "Limited risk, limited reward: {contracts} contracts of a {name}, the outlay within {cost} and the reward to "
        "risk not under {ratio}. You sell further {further}, for the stock should {direction}; a profit at expiry has "
        "to have a risk-neutral probability of {chance} or more.",
        "Which vertical would you buy if the stock is going to {direction}? It should be a {name} of {contracts} "
        "contracts, its short strike further {further}, at a price within {cost}, with at least {ratio} to win for "
        "each one to lose and with odds of at least {chance}, risk neutral, to end with a profit.",
        "Spend {cost} or less on a {name} ({contracts} contracts, short leg further {further}) that multiplies what "
        "is at stake by {ratio} or more if the stock will indeed {direction}. At expiry it should be worth more than "
        "it cost with a risk-neutral probability not below {chance}.",
    ),
    "volatility_view": (
        "Of the {count} closes below, the last is the price now. Compute the realised volatility (standard deviation "
        "with n - 1 of the daily log returns, 252 days a year) and trade as if it went on: buy volatility if it is "
        "above the volatility of the underlying that options imply, sell it if below. Use calls and puts with a "
        "limited loss and two breakevens, so that at expiry at most {loss} can be lost, the delta is within {delta} "
        "shares of zero and the vega is at least {vega} dollars per percentage point in size.",
        "Does the stock move more than its options say? Take the {count} closes (log returns, n - 1, 252 days), "
        "compare them with the underlying's volatility told here, which is the implied one, and hold calls and puts "
        "on the right side: {vega} dollars of vega a point or more, {delta} shares of delta or less, at most {loss} "
        "to lose at expiry, two breakevens.",
        "Volatility is to be bought or sold, whichever the {count} closes speak for against the implied volatility "
        "given for the underlying (sample deviation of log returns, annualised by 252 days). Conditions: both calls "
        "and puts, exactly two breakevens, a loss of at most {loss} at expiry, a delta within {delta} shares of zero, "
        "a vega of at least {vega} dollars a point in size.",
        "Compare realised volatility of the {count} closes (n - 1, log returns, a year of 252 days) with what options "
        "imply, the volatility of the underlying below. Build the position that profits from the gap: at least {vega} "
        "dollars of vega a point in size, at most {delta} shares of delta either way, at most {loss} of loss at "
        "expiry, calls as well as puts, two breakevens.",
        "You have {count} closes and an implied volatility, that of the underlying. If the first move more (log "
        "returns, n - 1, times the root of 252) be long vega, otherwise short, by {vega} dollars a point at least, "
        "with puts and calls that break even at two prices, lose {loss} at most at expiry and have a delta within "
        "{delta} shares of zero.",
        "Is implied volatility (the underlying's, as told) rich or cheap against the history of {count} closes, "
        "measured by log returns with n - 1 and 252 days? Act on it with puts and calls: two breakevens, a maximum "
        "loss at expiry of {loss}, a delta within {delta} shares of zero, a vega of {vega} dollars a point or more in "
        "size.",
        "The past {count} closes give one volatility (n - 1, logarithms, 252), the option market another, stated for "
        "the underlying. Bet on the former against the latter within these limits: loss at expiry {loss}, delta "
        "{delta} shares either way, vega at least {vega} dollars a point in size; hold both kinds of option and have "
        "two breakevens.",
    ),
    "forward_volatility": (
        "Two calls share a strike and differ in expiry. Compute the volatility that they imply for the time between "
        "the two expiries (variances times time add up). You believe that it will be {believed}. Trade a calendar "
        "spread of {contracts} contracts in these calls, one bought and one sold, on the side that gains from the "
        "later option if you are right.",
        "Your forecast for volatility between the two expiries is {believed}. What do the two calls say? Total "
        "variance adds up over time. Put on {contracts} calendar spreads the way the later call profits from your "
        "forecast.",
        "What volatility is priced between the first and the second expiry, given that variance times time is "
        "additive? Against that stands your {believed}; take {contracts} contracts of each call, opposite ways, so "
        "that the far one gains if it comes so.",
        "Forward volatility: derive it from the near and the far call, compare it with {believed}, your own figure, "
        "and enter a calendar of {contracts} contracts on the side on which the far call gains if you are right.",
        "Between the expiries you see {believed}. Use the additivity of variance to find what the market sees, and "
        "trade {contracts} contracts near against far, so that the far call gains if you are right.",
        "The term structure hides a volatility for the stretch after the first expiry. Extract it, set {believed} "
        "against it, and choose the direction of {contracts} calendar spreads so that the distant call gains if you "
        "are right.",
        "Someone sure of {believed} after the near expiry asks for {contracts} calendars whose far call gains if that "
        "is right, and for the volatility that both calls together imply for that time.",
    ),
    "profit_attribution": (
        "Split the profit of {contracts} calls by the Greeks of the day of purchase (gamma: one half of gamma times "
        "the squared move) and say what stays unexplained. Also give the stock position which, taken at the purchase, "
        "would have made the delta zero.",
        "Where did the money come from? You bought {contracts} calls; attribute their profit to delta, gamma (half "
        "times the squared move), theta and vega as of the purchase, name the rest, and state the shares that would "
        "have neutralised them then.",
        "Explain the result of {contracts} calls by their Greeks at the start: first order in price, time and "
        "volatility, second order in price. Add the remainder and the share hedge that was missing on the first day.",
        "For {contracts} calls held over the period below, report the parts of the profit by Greek of the first day, "
        "second order in the stock included, what is left over, and the stock that would have offset the delta at "
        "the start.",
        "Risk control asks for an attribution of {contracts} calls: Greeks as they were when the calls were bought, "
        "gamma with one half and the move squared, the unexplained part, and the initial hedge in shares.",
        "Take the profit on {contracts} calls apart: direction, curvature (half of gamma by the square), time, "
        "volatility, residue, all by the Greeks at the outset; then name the shares that should have gone with them.",
        "Decompose what {contracts} calls made by the sensitivities they had when bought (a second order in the "
        "stock, a first in the rest), give the leftover, and the number of shares for a flat start.",
    ),
    "straddle_attribution": (
        "You {side} {count} straddles struck at {strike} (as many calls as puts of that strike). {days} calendar days "
        "later the stock {moved} by {move} and every implied volatility {went} by {points} percentage points. Compute "
        "the Greeks at the start, the exact profit by revaluation, and the parts that delta, gamma (one half of gamma "
        "times the squared move), theta and vega explain. Also find a position in one or both of the other two series "
        "which, taken at the start, would have brought the vega of the whole to within {vega} dollars per percentage "
        "point of zero.",
        "{count} straddles at {strike} were {side}. Then, within {days} calendar days, the stock {moved} by {move} "
        "while all volatilities {went} by {points} points. Attribute the profit to the Greeks of the start (second "
        "order in the stock), and use the two outer series (one or both) for a hedge that leaves {vega} dollars of "
        "vega a point at most.",
        "Attribution of {count} straddles, {side}, strike {strike}: over {days} calendar days the stock {moved} by "
        "{move}, volatilities {went} by {points} points in every series. State exact profit, Greeks beforehand, their "
        "shares in it (gamma: half, squared), and the trade in the other two options (one or both) that would have cut "
        "vega to {vega} dollars a point.",
        "After {days} calendar days the stock {moved} by {move} and implied volatility {went} by {points} points "
        "throughout. What did {count} straddles at {strike}, {side} at the outset, make of it, by revaluation and by "
        "Greek? With the options that are not of the straddle, bring initial vega to within {vega} dollars a point.",
        "You {side} calls and puts struck at {strike}, {count} of each. Days gone by: {days}. The stock {moved} by "
        "{move}; volatility {went} by {points} points everywhere. Split the profit by the opening Greeks and find the "
        "hedge in the remaining two series (one or both): vega within {vega} dollars per point.",
        "With {count} straddles {side} at a strike of {strike}, the market changed: the stock {moved} by {move}, "
        "volatilities {went} by {points} points, {days} days of the calendar went by. Report result and "
        "decomposition (Taylor, second order in spot) and neutralise vega to {vega} a point with the wings alone.",
        "The wings should have been used: show how, so that at most {vega} dollars of vega a point had remained on "
        "{count} straddles, {side}, at {strike}. And explain the outcome, given that in {days} days prices {moved} by "
        "{move} and volatilities {went} by {points} points.",
    ),
    "spread_sizing": (
        "An account of {account} may lose at most {fraction} of itself on one trade. A put spread is to be sold: short "
        "the {high} put, long the {low} put. Sell as many whole spreads as the limit allows; the broker blocks the "
        "largest loss of each as buying power.",
        "With {account} in the account and a rule that no trade may cost more than {fraction} of it, how many spreads "
        "short {high} puts and long {low} puts can be sold? Sell them; buying power is their largest loss.",
        "Size a bull put spread ({high} sold, {low} bought): worst case at expiry within {fraction} of {account}, "
        "whole spreads only, as many as fit. What is blocked as buying power is the worst case.",
        "The budget of a trade is {fraction} of {account}. Fill it with spreads that are short the {high} put and long "
        "the {low} one, without going over it by a dollar; the broker holds back the most they can lose.",
        "Your capital: {account}. Your stake: {fraction} of it at the most. The trade: puts at {high} sold against "
        "puts at {low}. Take the largest whole number, and count the maximal loss as blocked.",
        "How many credit spreads between {low} and {high}, in puts, can an investor with {account} afford who stakes "
        "{fraction} on each idea? Write that many; maximal losses are what the broker reserves.",
        "No more than {fraction} out of {account} is to be lost if the stock ends under {low}. Sell {high}/{low} put "
        "spreads up to that point (whole ones; the reserve is what they can lose).",
    ),
    "collar": (
        "You hold {shares} shares bought today at the present price. Protect them until the options expire with a "
        "collar: buy {lots} puts of one strike and sell {lots} calls of a higher strike. Stock and collar together "
        "may lose at most {loss} at expiry, the collar must {price}, and a profit of at least {profit} must stay "
        "possible.",
        "A holding of {shares} shares, acquired today at spot, needs a floor. Sell {lots} calls, buy {lots} puts "
        "struck lower; the two must {price}, leave room for a gain of {profit} and cap the loss of everything at "
        "{loss}.",
        "Put a collar round {shares} shares bought at today's price: {lots} puts, {lots} calls above them. Demands: "
        "total loss at expiry up to {loss}; total profit up to {profit} still within reach; the collar has to "
        "{price}.",
        "The owner of {shares} shares, bought today at spot, is ready to lose {loss} at expiry, wants a largest "
        "possible profit of at least {profit}, and says of the collar that it should {price}. Find the put and the "
        "call, {lots} contracts each, call strike above put strike.",
        "Insure {shares} shares bought today at the market with {lots} puts, financed by {lots} calls of a higher "
        "strike. At expiry all together: no loss over {loss}, and {profit} of gain not given away. The options "
        "together must {price}.",
        "Fence in {shares} shares taken today at spot: {lots} puts beneath, {lots} calls over. Altogether they must "
        "{price}, the whole should not lose beyond {loss}, nor be barred from earning {profit}.",
        "Which {lots} puts and {lots} calls (higher struck) turn {shares} shares, purchased at the current price, into "
        "something that loses {loss} at worst and earns {profit} at best or more, if the pair has to {price}?",
    ),
    "traded_option": (
        "Trade on the paper account of the trading simulator. Open it with {cash}, its clock starting on {start}, with "
        "Regulation T margin. {orders} Let time pass to {end}. Report what the account made of it, its profit by "
        "Greek, the Greeks of the options at the end, and the stock position which, taken at the end, would make the "
        "delta zero.",
        "The trading simulator has a paper account for you: {cash}, Regulation T, from {start}. {orders} On {end}, "
        "report its profit, where by Greek that came from, the Greeks that are left, and the shares that offset them.",
        "From {start} to {end} you run a paper account of {cash} on the trading simulator under Regulation T. {orders} "
        "At the end the result, its parts by Greek, the sensitivities still held and the neutralising stock trade are "
        "due.",
        "Open a Regulation T paper account on {start} with {cash}. {orders} Advance the clock to {end}, and attribute "
        "the profit to the Greeks; state those of what is held then, and the shares for a delta of zero.",
        "An exercise on the trading simulator, account {cash}, margin by Regulation T, first day {start}, last day "
        "{end}. {orders} Explain the account's profit Greek by Greek, and hedge the final delta in stock.",
        "Between {start} and {end} work with {cash} on the simulator's paper account (Regulation T). {orders} "
        "Afterwards split the gain or loss by Greek and say which shares would flatten what remains.",
        "Simulated trading, {cash} of it, Regulation T rules, beginning {start}. {orders} Stop on {end}: how much did "
        "it make, through which Greeks, what is the exposure, and which number of shares cancels the delta?",
    ),
}
