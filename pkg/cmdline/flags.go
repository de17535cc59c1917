package cmdline

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// notEmpty is the value of a flag that must not be empty where it is given: in a script, its variable was not set.
type notEmpty struct{ of *string }

func (v notEmpty) String() string {
	if v.of == nil { // the library compares with a zero value
		return ""
	}
	return *v.of
}

func (v notEmpty) Set(value string) error {
	if value == "" {
		return errors.New("must not be empty")
	}
	*v.of = value
	return nil
}

func (v notEmpty) Type() string { return "string" }

// NotEmptyVar adds a flag that must not be empty where it is given.
func NotEmptyVar(command *cobra.Command, to *string, name, shorthand, byDefault, usage string) {
	*to = byDefault
	command.Flags().VarP(notEmpty{to}, name, shorthand, usage)
}

// Overwrites returns an error that names the flag of an output if it is the same file as one of the inputs.
func Overwrites(flag, output string, inputs ...string) error {
	written, err := os.Stat(output)
	if err != nil {
		return nil //nolint:nilerr // what cannot be read is no input
	}
	for _, input := range inputs {
		if read, err := os.Stat(input); err == nil && os.SameFile(written, read) {
			return UsageError(fmt.Errorf("--%s: %s is read too, and would be overwritten: name another file", flag, output))
		}
	}
	return nil
}
