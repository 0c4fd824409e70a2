"""Scale words and units as agents write them, and the factor that each applies."""

from __future__ import annotations

SCALES = {
    "hundred": 1e2, "k": 1e3, "thousand": 1e3, "thousands": 1e3, "m": 1e6, "mm": 1e6, "mn": 1e6, "mln": 1e6,
    "million": 1e6, "millions": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9, "billions": 1e9, "t": 1e12, "tn": 1e12,
    "trn": 1e12, "trillion": 1e12, "trillions": 1e12, "lakh": 1e5, "lakhs": 1e5, "crore": 1e7, "crores": 1e7,
    "千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "十亿": 1e9, "万亿": 1e12,
}  # fmt: skip
"""Scale word, in lower case -> factor."""

UNIT_WORDS: dict[str, tuple[str, ...]] = {
    "%": (
        "%",
        "percent",
        "per cent",
        "pct",
        "percentage points",
        "percentage point",
        "%-points",
        "% points",
        "pp",
        "ppt",
        "个百分点",
    ),
    "bp": ("bp", "bps", "basis points", "basis point"),
    "‰": ("‰",),
    "x": ("x", "×", "times", "倍"),
    "USD": ("US$", "USD$", "U.S. dollars", "US dollars", "USD", "dollars", "dollar", "$", "美元"),
    "USD cents": ("US cents", "cents", "cent", "¢"),
    "EUR": ("EUR", "euros", "euro", "€", "欧元"),
    "GBP": ("GBP", "pounds sterling", "pounds", "pound", "£", "英镑"),
    "JPY": ("JPY", "yen", "日元"),
    "CNY": ("CNY", "RMB", "yuan", "人民币", "元"),
    "JPY or CNY": ("¥",),
    "HKD": ("HK$", "HKD", "港元", "港币"),
    "CAD": ("C$", "CA$", "CAD"),
    "AUD": ("A$", "AU$", "AUD"),
    "CHF": ("CHF", "francs", "franc"),
    "INR": ("INR", "rupees", "rupee", "₹"),
    "KRW": ("KRW", "won", "₩"),
    "USDT": ("USDT",),
    "USDC": ("USDC",),
    "BTC": ("BTC", "bitcoins", "bitcoin", "₿"),
    "ETH": ("ETH", "ether"),
    "shares": ("shares", "share"),
    "contracts": ("contracts", "contract"),
    "units": ("units", "unit"),
    "years": ("years", "year", "yrs", "yr", "年"),
    "months": ("months", "month"),
    "weeks": ("weeks", "week"),
    "days": ("days", "day", "天"),
    "hours": ("hours", "hour"),
}
"""Canonical unit -> how it is written; a sign stands before the number, a word behind it."""

CURRENCIES = frozenset(
    {"USD", "USD cents", "EUR", "GBP", "JPY", "CNY", "JPY or CNY", "HKD", "CAD", "AUD", "CHF", "INR", "KRW", "USDT",
     "USDC", "BTC", "ETH"}
)  # fmt: skip

CANONICAL = {word.lower(): unit for unit, words in UNIT_WORDS.items() for word in words}
CENTS = "USD cents"
PERCENT_UNITS = ("%", "bp", "‰")
UNIT_FACTORS = {"%": 1e-2, "bp": 1e-4, "‰": 1e-3, CENTS: 1e-2}
"""What a number in this unit is multiplied with; 1 for units that are not here."""

OTHER_CURRENCIES = frozenset(
    """AED ARS BDT BGN BHD BRL CLP COP CZK DKK EGP HUF IDR ILS ISK KES KWD KZT MAD MXN MYR NGN NOK NZD OMR PEN PHP PKR
    PLN QAR RON RSD RUB SAR SEK SGD THB TRY TWD UAH VND ZAR""".split()
)
"""Codes of ISO 4217 that no question asks for: an amount in one is refused, not read as a bare number."""

OTHER_WORDS = frozenset(
    """bil mil mill thou grand quid bpts bips promille permil permille permill pesos peso krona kronor kronur krone
    kroner rubles roubles reais rand ringgit baht lira shekels zloty zlotys forint dirham dirhams riyal dinar dinars mo
    mos mth mths hr hrs wk wks min mins minutes seconds lot lots dozen oz ounces bbl barrels tons tonnes mrd mio mia
    bio tsd milliard milliards milliarden millionen""".split()
)
"""Words behind a number that are a scale or unit, and not one that is read here: the number is refused."""
