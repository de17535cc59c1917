// Command clireference writes docs/cli.md: all verbs and flags of kubectl addon, as
// their help has them. It is run by `make generate`.
//
// It is a module of its own, because the library that writes the Markdown requires
// others, which the plugin does not need.
package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli"
)

const intro = `# Verbs and flags of kubectl addon

` + "`make generate` writes this page from the commands themselves, so it is the same as `--help`. [The plugin](kubectl-addon.md) shows what the verbs are for, with outputs. [Exit codes](reference.md#command-lines) are in the reference." + `

`

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: clireference FILE: the page to write")
		os.Exit(2)
	}
	page, err := write()
	if err == nil {
		err = os.WriteFile(os.Args[1], page, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "clireference:", err)
		os.Exit(1)
	}
}

// write returns the page: the verbs in the order of the alphabet, and the flags that
// all of them have once, at the end.
func write() ([]byte, error) {
	// The default of --cache-dir is below the home of the user who runs this.
	if err := os.Setenv("HOME", "$HOME"); err != nil {
		return nil, fmt.Errorf("set HOME: %w", err)
	}
	root := cli.NewCommand(genericiooptions.NewTestIOStreamsDiscard())
	verbs := root.Commands() // cobra adds help to them while it writes
	var common bytes.Buffer
	if err := section(&common, root); err != nil {
		return nil, err
	}
	// cobra would repeat them for each verb.
	root.PersistentFlags().VisitAll(func(flag *pflag.Flag) { flag.Hidden = true })
	page := bytes.NewBufferString(intro)
	for _, verb := range verbs {
		for _, command := range append([]*cobra.Command{verb}, verb.Commands()...) {
			if err := section(page, command); err != nil {
				return nil, err
			}
		}
	}
	page.WriteString("## Flags of all verbs\n\n")
	_, options, found := strings.Cut(common.String(), "### Options\n\n")
	if !found {
		return nil, fmt.Errorf("%s has no section with its options", root.Name())
	}
	page.WriteString(strings.TrimSpace(options) + "\n")
	return page.Bytes(), nil
}

// section adds what cobra writes of one command, without links to the others.
func section(to *bytes.Buffer, command *cobra.Command) error {
	command.DisableAutoGenTag = true
	var all bytes.Buffer
	if err := doc.GenMarkdown(command, &all); err != nil {
		return fmt.Errorf("write %s: %w", command.CommandPath(), err)
	}
	text, _, _ := strings.Cut(all.String(), "### SEE ALSO")
	to.WriteString(strings.TrimSpace(text) + "\n\n")
	return nil
}
