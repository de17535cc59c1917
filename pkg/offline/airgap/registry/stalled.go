package registry

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// errStalled is the cause of an exchange that is given up.
var errStalled = errors.New("no progress in time")

// exchange is a request and its response. It is given up if neither side sends anything for a while: the timeout of the transport is only
// for the beginning of a response, so a registry that stops in the middle of a body would be waited for without end.
type exchange struct {
	ctx     context.Context //nolint:containedctx // it lives as long as the bodies, which have no argument for it
	cancel  context.CancelCauseFunc
	watch   *time.Timer
	timeout time.Duration
}

func newExchange(ctx context.Context, timeout time.Duration) *exchange {
	e := &exchange{timeout: timeout}
	e.ctx, e.cancel = context.WithCancelCause(ctx)
	e.watch = time.AfterFunc(timeout, func() { e.cancel(errStalled) })
	return e
}

// request returns the request with the context of the exchange.
func (e *exchange) request(original *http.Request) *http.Request {
	request := original.Clone(e.ctx)
	if request.Body != nil && request.Body != http.NoBody {
		request.Body = &body{request.Body, e, false}
	}
	return request
}

// stalled reports whether the exchange was given up.
func (e *exchange) stalled() bool { return errors.Is(context.Cause(e.ctx), errStalled) }

func (e *exchange) end() {
	e.watch.Stop()
	e.cancel(nil)
}

// body is the body of a request or a response.
type body struct {
	io.ReadCloser
	exchange *exchange
	// isResponse is whether it is the body of the response, with which the exchange ends.
	isResponse bool
}

// Read implements io.Reader.
func (b *body) Read(content []byte) (int, error) {
	b.exchange.watch.Reset(b.exchange.timeout)
	if b.isResponse {
		defer b.exchange.watch.Stop() // whoever reads may take its time between two reads
	}
	n, err := b.ReadCloser.Read(content)
	if err != nil && !errors.Is(err, io.EOF) && b.exchange.stalled() {
		err = errStalled
	}
	return n, err
}

// Close implements io.Closer.
func (b *body) Close() error {
	if b.isResponse {
		defer b.exchange.end()
	}
	return b.ReadCloser.Close()
}
