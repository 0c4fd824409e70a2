"""What an agent is told of the trading task."""

from __future__ import annotations

from backtest.rules import Rules
from evaluators.crypto import columns

BYTES_A_BAR = 55
"""Of the columns in which what came before is told, about."""

STRUCTURES = (
    "earlier returns, one or two (the second up to 4 bars older than the lag); order flow; the book; the surprise of "
    "the premium (less 0.8 times the one before); the leading coin; the hour of the day; a close beyond the highest or "
    "lowest of the three before; a move larger than usual, which goes on, and a smaller one, which turns, or the "
    "reverse; a hidden state in which flow is followed or faded; announcements, true or false throughout; the product "
    "of two signs"
)
TOOLS = (
    "Tools tell those bars, too: get_history of the trading server, and to code in the sandbox the file history.json."
)
FEED = (
    "Candles, volume and funding are what the feed shows, which may be disturbed, late or manipulated; orders fill at "
    "the venue's true prices, and the account is kept at them."
)
OTHER_FEEDS = "Flow, book, premium, leader and news come from other feeds and are true."
KNOWABLE = (
    "In every episode the direction of the coming bar leans by something that is shown. Its kind, a lag of at most 8 "
    f"bars and its sign were drawn for the episode and stay: {STRUCTURES}. The bars before the first decision tell "
    "which."
)
TIMING = (
    "The score is timing after costs: each bar counts your position over the largest that you have held in the episode "
    "so far, times its true move in units of the usual size"
)
OF_A_BAR = ", by what was to be expected of it from all that is public, so that luck neither pays nor costs."


def instructions(*, rules: Rules, warmup: int, knowable: bool, together: bool) -> str:
    """Return how to answer a message of all episodes together, or of one.

    Parameters
    ----------
    rules
        Of the venue.
    warmup
        Bars before the first decision.
    knowable
        Whether the markets are simulated ones in which something can be known.
    together
        Whether a message holds several episodes.
    """
    costs = f"fee {rules.fee_bps:g} bps, slippage at least {rules.slippage_bps:g} bps"
    if not together:
        return (
            'Reply with one JSON object {"action": "BUY" | "SELL" | "HOLD" | "CLOSE", "size": notional as a multiple '
            'of equity, "stop_loss": price or null, "take_profit": price or null, "confidence": 0 to 1, "reasoning": '
            f"text}}. Orders are filled at the next bar's open ({costs}, at most {rules.max_leverage:g} times equity). "
            f'An invalid decision counts as HOLD. {{"history": "all"}} asks for the {warmup} bars before the first '
            "decision, once."
        )
    sentences = (
        "You trade several perpetual futures at once, one account for each episode.",
        'Reply with one JSON object {"exposures": {episode: number, ...}} that names every episode, or {"exposures": '
        "[number, ...]} in the order of the message: the position to hold from the next bar's open on, as a signed "
        f"multiple of equity (1 long, -1 short, 0 flat, at most {rules.max_leverage:g} either way).",
        "The same number again leaves the position as it is.",
        'Instead of it {"decisions": [{"episode": id, "action": "BUY" | "SELL" | "HOLD" | "CLOSE", "size": multiple of '
        'equity, "stop_loss": price or null, "take_profit": price or null}, ...]} is taken, too.',
        f"Trading costs {costs}. What is invalid counts as no change.",
        f"Before you decide you may ask for the {warmup} bars that came before the first decision, in columns: reply "
        '{"history": [episode, ...]} or {"history": "all"}, once for an episode (some '
        f"{warmup * BYTES_A_BAR / 1000.0:.0f} kB each); "
        '{"account": [episode, ...] or "all"} asks for exposure and equity. Asking costs no decision.',
        *((TOOLS,) if knowable else ()),
        FEED,
        *((OTHER_FEEDS,) if knowable else ()),
        TIMING + (OF_A_BAR if knowable else "."),
        "Each market is played twice, as it is and with its directions inverted; a constant position earns 0.",
        *((KNOWABLE,) if knowable else ()),
        f"A row of an episode holds: {columns.meaning(knowable)}.",
    )
    return " ".join(sentences)


def strategy_question(*, known: bool) -> str:
    """Return what is asked where one declared strategy is played on everything; ``known``: on a simulated venue."""
    costs = "fee 5 bps, slippage from 1 bp"
    score = (
        "The score is timing after costs: how far your position pointed the way the next move went, relative to your "
        "largest one; any constant position earns 0."
    )
    if not known:
        return (
            "Write a trading strategy for perpetual futures of unknown names. It is backtested on many windows of "
            "hourly bars and their mirror images (inverted log-returns), clean and with noise, false signals and "
            f"manipulated feeds; {costs}. {score}"
        )
    return (
        "Write a trading strategy for one venue of perpetual futures. It is backtested on many windows of hourly bars "
        "of that venue, clean and with noise, false signals and manipulated candle feeds (flow, book, premium, leader "
        f"and news are true); {costs}. On this venue the direction of the coming bar leans by something that is shown. "
        f"Its kind, a lag of at most 8 bars and its sign are the same in all windows: {STRUCTURES}. context.history is "
        f"a stretch of the venue's past, hourly, in columns: {columns.meaning(known, price=False)}. {score}"
    )
