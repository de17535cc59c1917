@kubectl addon __complete %*
