// Command hello stands for the programs that images are made of.
package main

func main() { println("hello") }
