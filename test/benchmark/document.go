package main

import (
	"os"

	"github.com/spf13/cobra"

	"open-cluster-management.io/interlock/test/benchmark/result"
)

func newDocumentCommand() *cobra.Command {
	var source, target string
	command := &cobra.Command{
		Use:   "document",
		Short: "Write the document on performance from the figures of earlier runs",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return result.WriteDocument(source, target)
		},
	}
	command.Flags().StringVar(&source, "from", figures, "Folder with the figures.")
	command.Flags().StringVar(&target, "to", "../../docs/performance.md", "Document to write; its charts go to a folder of the same name.")
	return command
}

func makeFolder(path string) error { return os.MkdirAll(path, 0o700) }
