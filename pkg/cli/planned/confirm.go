package planned

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// ErrDeclined is the error for a person who does not answer yes.
var ErrDeclined = errors.New("nothing was done, because you did not answer yes")

// Confirm asks a person, and returns an error unless the answer is yes.
func (o *Options) Confirm(ctx context.Context, question string) error {
	return Ask(ctx, o.IOStreams, question)
}

// Ask is Confirm for a verb that has no plan for add-ons.
func Ask(ctx context.Context, streams genericiooptions.IOStreams, question string) error {
	fmt.Fprintf(streams.ErrOut, "%s [y/N] ", question)
	answered := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(streams.In).ReadString('\n') // without an answer, it is none
		answered <- line
	}()
	select {
	case <-ctx.Done(): // standard input cannot be interrupted
		fmt.Fprintln(streams.ErrOut)
		return ErrDeclined
	case answer := <-answered:
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "y", "yes":
			return nil
		default:
			return ErrDeclined
		}
	}
}
