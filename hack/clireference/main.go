// Command clireference writes docs/cli.md: all verbs and flags of kubectl addon, with
// the texts of their help. `make generate` runs it.
//
// It is a module of its own, because the plugin does not need the library that writes the
// Markdown.
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

// write returns the page: the verbs in alphabetical order, and at the end the flags that
// all verbs share.
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
		if verb.Name() == "options" {
			continue // the end of the page has what it prints
		}
		for _, command := range append([]*cobra.Command{verb}, verb.Commands()...) {
			if err := section(page, command); err != nil {
				return nil, err
			}
		}
	}
	page.WriteString("## Flags of all verbs\n\n")
	_, options, ok := strings.Cut(common.String(), "### Options\n\n")
	if !ok {
		return nil, fmt.Errorf("%s has no section with its options", root.Name())
	}
	page.WriteString(strings.TrimSpace(options) + "\n")
	return page.Bytes(), nil
}

// section adds cobra's Markdown for one command to the page, without links to other commands.
func section(page *bytes.Buffer, command *cobra.Command) error {
	command.DisableAutoGenTag = true
	var markdown bytes.Buffer
	if err := doc.GenMarkdown(command, &markdown); err != nil {
		return fmt.Errorf("write %s: %w", command.CommandPath(), err)
	}
	text, _, _ := strings.Cut(markdown.String(), "### SEE ALSO")
	page.WriteString(strings.TrimSpace(text) + "\n\n")
	return nil
}
