package conversion

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/text"
)

// Path is where `addon-manager webhook` serves the handler.
const Path = "/convert"

const (
	// maxObject is more than an API server stores, in bytes, and maxValues more than a
	// registration can have. Each value of an object takes a multiple of its length.
	maxObject = 3 << 20
	maxValues = 50_000

	maxMessage = 1024 // characters
)

// MaxResponse is how many bytes the response to a request may have. Conversion adds a
// name to each supported configuration without a default.
func MaxResponse(request int64) int64 {
	return request + max(request/4, min(request, 1<<20)) + 64<<10
}

// NewHandler returns a handler of the API server's ConversionReviews (v1) of
// ClusterManagementAddOns. It has no state, so any number of replicas can serve it.
func NewHandler(log logr.Logger) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		review, err := readReview(request.Body)
		if err != nil {
			log.Info("Cannot read a conversion request", "reason", message(err))
			http.Error(writer, message(err), http.StatusBadRequest)
			return
		}
		converted, result := respond(review.Request)
		if result.Status != metav1.StatusSuccess {
			log.Info("Conversion failed", "uid", review.Request.UID, "reason", result.Message)
		}
		writer.Header().Set("Content-Type", "application/json")
		if err := write(writer, review.Request.UID, converted, result); err != nil {
			log.Error(err, "Cannot write the response to a conversion request")
		}
	})
}

// received is a ConversionReview whose objects are not decoded yet.
type received struct {
	metav1.TypeMeta `json:",inline"`
	Request         *request `json:"request"`
}

type request struct {
	UID               types.UID `json:"uid"`
	DesiredAPIVersion string    `json:"desiredAPIVersion"`
	Objects           part      `json:"objects"`
}

// message repeats what is wrong in a request, safely.
func message(err error) string { return text.Cut(text.OneLine(err.Error()), maxMessage) }

// part is a part of a JSON text, not a copy of it.
type part []byte

// UnmarshalJSON implements json.Unmarshaler.
func (p *part) UnmarshalJSON(content []byte) error {
	*p = content // readReview never changes the content
	return nil
}

func readReview(body io.Reader) (*received, error) {
	var content []byte
	if read, ok := body.(interface{ Bytes() []byte }); ok { // package limits has read it: no second copy
		content = read.Bytes()
	} else {
		var err error
		if content, err = io.ReadAll(body); err != nil {
			return nil, fmt.Errorf("read the ConversionReview: %w", err)
		}
	}
	review := &received{}
	if err := json.Unmarshal(content, review); err != nil {
		return nil, fmt.Errorf("read the ConversionReview: %w", err)
	}
	if review.APIVersion != apiextensionsv1.SchemeGroupVersion.String() || review.Kind != "ConversionReview" {
		return nil, fmt.Errorf("got a %s of %q, want a ConversionReview of %s",
			review.Kind, review.APIVersion, apiextensionsv1.SchemeGroupVersion)
	}
	if review.Request == nil {
		return nil, errors.New("the ConversionReview has no request")
	}
	return review, nil
}

// respond converts all objects or none, as the API server requires. It decodes one
// object after the other: a review may have thousands. The converted ones are
// separated by commas.
func respond(request *request) ([]byte, metav1.Status) {
	var converted bytes.Buffer
	most := int(MaxResponse(int64(len(request.Objects))))
	converted.Grow(most)
	err := eachObject(request.Objects, func(object []byte) error {
		if bytes.Count(object, []byte(",")) > maxValues {
			return fmt.Errorf("an object has more than %d values", maxValues)
		}
		result, err := Convert(object, request.DesiredAPIVersion)
		if err != nil {
			return err
		}
		if converted.Len()+len(result) >= most {
			return errors.New("the converted objects are much larger than the request")
		}
		if converted.Len() > 0 {
			converted.WriteByte(',')
		}
		converted.Write(result)
		return nil
	})
	if err != nil {
		return nil, metav1.Status{Status: metav1.StatusFailure, Message: message(err)}
	}
	return converted.Bytes(), metav1.Status{Status: metav1.StatusSuccess}
}

func eachObject(list part, convert func(object []byte) error) error {
	if len(list) == 0 || string(list) == "null" {
		return nil
	}
	limited := &limitedReader{Reader: bytes.NewReader(list), left: maxObject}
	decoder := json.NewDecoder(limited)
	if start, err := decoder.Token(); err != nil || start != json.Delim('[') {
		return errors.New("read the objects: they are no list")
	}
	var object json.RawMessage
	for decoder.More() {
		if err := decoder.Decode(&object); err != nil {
			return fmt.Errorf("read the objects: %w", err)
		}
		if err := convert(object); err != nil {
			return err
		}
		limited.left = maxObject
	}
	return nil
}

// limitedReader reads no more than is left.
type limitedReader struct {
	*bytes.Reader
	left int
}

// Read implements io.Reader.
func (l *limitedReader) Read(into []byte) (int, error) {
	if l.left == 0 {
		return 0, fmt.Errorf("an object has more than %d bytes", maxObject)
	}
	count, err := l.Reader.Read(into[:min(len(into), l.left)])
	l.left -= count
	return count, err
}

// write writes the response in parts: an encoder would copy all objects once more.
func write(writer io.Writer, uid types.UID, converted []byte, result metav1.Status) error {
	empty, err := json.Marshal(&apiextensionsv1.ConversionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "ConversionReview"},
		Response: &apiextensionsv1.ConversionResponse{UID: uid, Result: result},
	})
	if err != nil {
		return err
	}
	before, after, _ := bytes.Cut(empty, []byte(`"convertedObjects":null`))
	for _, part := range [][]byte{before, []byte(`"convertedObjects":[`), converted, []byte("]"), after} {
		if _, err := writer.Write(part); err != nil {
			return err
		}
	}
	return nil
}
