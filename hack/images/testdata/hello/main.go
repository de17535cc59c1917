// Command hello stands for the programs that images are made of.
package main

import "example.com/greeting"

func main() { println(greeting.Text) }
