module example.com/greeting

go 1.25.0
