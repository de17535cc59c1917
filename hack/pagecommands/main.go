// Command pagecommands runs the commands of a Markdown page as a reader would copy
// them, in one shell, and compares what they print with what the page shows.
//
// Commands are in blocks fenced with ```sh. A block fenced with ```text right after
// one, with at most a sentence between them, is its output: the commands must print
// its lines, in this order; others may be between them. Spaces do not matter, and …
// stands for any one word.
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
		fmt.Fprintln(flag.CommandLine.Output(), "usage: pagecommands [-from HEADING] [-until HEADING] [-replace WORD=VALUE ...] FILE\n\n"+
			"Runs the commands of a Markdown page in one bash, and compares their output with the page.")
		flag.PrintDefaults()
	}
	from := flag.String("from", "", "heading of the first section to run; without it, the page's first")
	until := flag.String("until", "", "heading of the first section not to run; without it, the page runs to its end")
	values := map[string]string{}
	flag.Func("replace", "`WORD=VALUE`: what a word in the commands stands for, such as ADDON=gateway; may be repeated", func(text string) error {
		word, value, found := strings.Cut(text, "=")
		if !found || word == "" {
			return fmt.Errorf("%q is not WORD=VALUE", text)
		}
		values[word] = value
		return nil
	})
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := runPage(ctx, flag.Arg(0), *from, *until, values)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pagecommands:", err)
		os.Exit(1)
	}
}

func runPage(ctx context.Context, file, from, until string, values map[string]string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	blocks, err := section(parse(string(content)), from, until)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return run(ctx, file, replace(blocks, values), os.Stdout)
}
