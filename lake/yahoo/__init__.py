"""Yahoo Finance through yfinance: prices as traded, actions, statements, estimates, earnings, news, option chains."""
