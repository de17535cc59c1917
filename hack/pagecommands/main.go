// Command pagecommands runs the commands of a Markdown page in one shell, as a reader would
// copy them, and compares their output with the output on the page.
//
// Commands are in blocks fenced with ```sh. If a block fenced with ```text follows, with at
// most a sentence between them, it is their output. The commands must print its lines, in
// this order. Other lines may be between them. Spaces do not matter, and … stands for any
// single word.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: pagecommands [-print] [-from HEADING] [-until HEADING] [-replace WORD=VALUE ...] FILE\n\n"+
			"Runs the commands of a Markdown page in one bash, and compares their output with the page.")
		flag.PrintDefaults()
	}
	start := flag.String("from", "", "heading of the first section to run; without it, the page's first")
	end := flag.String("until", "", "heading of the first section not to run; without it, the page runs to its end")
	values := map[string]string{}
	flag.Func("replace", "`WORD=VALUE`: what a word in the commands stands for, such as ADDON=gateway; may be repeated", func(text string) error {
		word, value, ok := strings.Cut(text, "=")
		if !ok || word == "" {
			return fmt.Errorf("%q is not WORD=VALUE", text)
		}
		values[word] = value
		return nil
	})
	printOnly := flag.Bool("print", false, "print the commands, and run none")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := runPage(ctx, flag.Arg(0), *start, *end, values, *printOnly)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pagecommands:", err)
		os.Exit(1)
	}
}

func runPage(ctx context.Context, file, start, end string, values map[string]string, printOnly bool) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	blocks, err := section(parse(string(content)), start, end)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	blocks = replace(blocks, values)
	if !printOnly {
		return run(ctx, file, blocks, os.Stdout)
	}
	for _, b := range blocks {
		fmt.Printf("# %s\n%s\n", b.heading, b.commands)
	}
	return nil
}
