package testenv

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"regexp"
	"sync"

	"k8s.io/client-go/rest"

	"open-cluster-management.io/interlock/pkg/text"
)

// readable lets a client of a test read the messages of programs that were built with the tag scrambled.
func readable(config *rest.Config) *rest.Config {
	if !text.Scrambled {
		return config
	}
	config = rest.CopyConfig(config)
	config.ContentType = "application/json" // other formats include the lengths of texts
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return unscrambling{next} })
	return config
}

type unscrambling struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (u unscrambling) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body != nil {
		content, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		content = scrambledAgain(content)
		request = request.Clone(request.Context())
		request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(content)), int64(len(content))
	}
	response, err := u.next.RoundTrip(request)
	if err == nil {
		response.Body = &lines{body: response.Body, buffered: bufio.NewReader(response.Body)}
		response.ContentLength = -1
		response.Header.Del("Content-Length")
	}
	return response, err
}

// lines reads a response line by line: a watch sends one event in each.
type lines struct {
	body     io.Closer
	buffered *bufio.Reader
	rest     []byte
}

// Read implements io.Reader.
func (l *lines) Read(target []byte) (int, error) {
	if len(l.rest) == 0 {
		line, err := l.buffered.ReadBytes('\n')
		if len(line) == 0 {
			return 0, err
		}
		l.rest = Readable(line)
	}
	n := copy(target, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// Close implements io.Closer.
func (l *lines) Close() error { return l.body.Close() }

var (
	scrambled = regexp.MustCompile(`\{~.*?~\}`)
	// inJSON matches the message of a condition.
	inJSON = regexp.MustCompile(`"message":"(?:[^"\\]|\\.)*"`)
	// read has the scrambled form of each message that a client has read.
	read sync.Map
)

// scrambledAgain restores the stored form of the conditions that a client has read. A client that changes one
// condition sends all of them.
func scrambledAgain(content []byte) []byte {
	return inJSON.ReplaceAllFunc(content, func(message []byte) []byte {
		if stored, ok := read.Load(string(message)); ok {
			return []byte(stored.(string))
		}
		return message
	})
}

// Readable unscrambles the messages of programs that were built with the tag scrambled, in plain text and in JSON.
func Readable(content []byte) []byte {
	content = inJSON.ReplaceAllFunc(content, func(stored []byte) []byte {
		scrambledForm := string(stored)
		message := unscrambled(stored)
		if string(message) != scrambledForm {
			read.Store(string(message), scrambledForm)
		}
		return message
	})
	return unscrambled(content)
}

func unscrambled(content []byte) []byte {
	return scrambled.ReplaceAllFunc(content, func(message []byte) []byte {
		message = bytes.Clone(bytes.TrimSuffix(bytes.TrimPrefix(message, []byte("{~")), []byte("~}")))
		for i := 0; i < len(message); i++ {
			switch letter := message[i]; {
			case letter == '\\' && i+1 < len(message) && message[i+1] == 'u':
				i += len(`\u003c`) - 1
			case letter == '\\':
				i++
			case letter >= 'a' && letter <= 'z':
				message[i] = 'a' + (letter-'a'+13)%26
			case letter >= 'A' && letter <= 'Z':
				message[i] = 'A' + (letter-'A'+13)%26
			}
		}
		return message
	})
}
