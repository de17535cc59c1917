package layout

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// checkedReader is a reader that fails at the end of its content, unless the content has the wanted digest and size.
type checkedReader struct {
	reader io.Reader
	want   v1.Descriptor
	sum    hash.Hash
	read   int64
}

func check(reader io.Reader, want v1.Descriptor) (io.Reader, error) {
	if want.Digest.Algorithm != "sha256" {
		return nil, fmt.Errorf("digests of %q are not supported", want.Digest.Algorithm)
	}
	return &checkedReader{reader: reader, want: want, sum: sha256.New()}, nil
}

// Read implements io.Reader.
func (c *checkedReader) Read(buffer []byte) (int, error) {
	n, err := c.reader.Read(buffer)
	c.sum.Write(buffer[:n])
	if c.read += int64(n); c.read > c.want.Size {
		return n, fmt.Errorf("it has more than %d bytes", c.want.Size)
	}
	if errors.Is(err, io.EOF) {
		if digest := hex.EncodeToString(c.sum.Sum(nil)); digest != c.want.Digest.Hex || c.read != c.want.Size {
			return n, fmt.Errorf("its content was changed: it has %d bytes and digest sha256:%s", c.read, digest)
		}
	}
	return n, err
}
