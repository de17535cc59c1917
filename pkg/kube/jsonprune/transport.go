package jsonprune

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"path"
	"slices"
)

// bufferSize is the size of the read buffer in bytes. Most watch events are smaller.
const bufferSize = 16 << 10

// Transport prunes the objects in watches and lists; all other responses pass.
type Transport struct {
	// Next makes the requests.
	Next http.RoundTripper
	// Drop has the parts of objects that no component behind this transport reads, by
	// resource: the last part of a request's path. Objects of other resources pass.
	Drop map[string]*Drop
	// Lists has the resources whose lists are pruned, too. A list is read into memory, so
	// it should be small.
	Lists []string
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.Next.RoundTrip(request)
	resource := path.Base(request.URL.Path)
	drop, ok := t.Drop[resource]
	if err != nil || !ok || request.Method != http.MethodGet || !isJSON(response) {
		return response, err
	}
	switch {
	case isWatch(request):
		event := &Drop{Members: map[string]*Drop{"object": drop}}
		response.Body = &events{lines: bufio.NewReaderSize(response.Body, bufferSize), body: response.Body, drop: event}
		response.ContentLength = -1
	case slices.Contains(t.Lists, resource):
		return pruneList(response, &Drop{Members: map[string]*Drop{"items": {Elements: drop}}})
	}
	return response, nil
}

func pruneList(response *http.Response, drop *Drop) (*http.Response, error) {
	whole, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	pruned := Prune(nil, whole, drop)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(pruned)), int64(len(pruned))
	return response, nil
}

// WrappedRoundTripper lets client-go find the transport below.
func (t *Transport) WrappedRoundTripper() http.RoundTripper { return t.Next }

func isWatch(request *http.Request) bool {
	watch := request.URL.Query().Get("watch")
	return watch == "true" || watch == "1"
}

func isJSON(response *http.Response) bool {
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return err == nil && kind == "application/json" && response.StatusCode == http.StatusOK
}

// events are the events of a watch, one on each line.
type events struct {
	lines *bufio.Reader
	body  io.Closer
	drop  *Drop
	// line and pruned are buffers for all events. unread is the rest of pruned.
	line, pruned, unread []byte
	err                  error
}

// Read implements io.Reader.
func (e *events) Read(p []byte) (int, error) {
	for len(e.unread) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.readLine()
		e.pruned = Prune(e.pruned[:0], e.line, e.drop)
		e.unread = e.pruned
	}
	n := copy(p, e.unread)
	e.unread = e.unread[n:]
	return n, nil
}

// readLine reads up to the end of a line, or of the response.
func (e *events) readLine() {
	e.line = e.line[:0]
	for {
		part, err := e.lines.ReadSlice('\n')
		e.line = append(e.line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			e.err = err
			return
		}
	}
}

// Close implements io.Closer.
func (e *events) Close() error { return e.body.Close() }
