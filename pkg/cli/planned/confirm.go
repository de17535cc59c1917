package planned

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrDeclined is the error for a person who does not answer yes.
var ErrDeclined = errors.New("nothing was done, because you did not answer yes")

// Confirm asks a person, and returns an error unless the answer is yes.
func (o *Options) Confirm(ctx context.Context, question string) error {
	fmt.Fprintf(o.ErrOut, "%s [y/N] ", question)
	answered := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(o.In).ReadString('\n') // without an answer, it is none
		answered <- line
	}()
	select {
	case <-ctx.Done(): // standard input cannot be interrupted
		fmt.Fprintln(o.ErrOut)
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
