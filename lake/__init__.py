"""Point-in-time data: every query names the date it is asked on."""
