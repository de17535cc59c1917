package conversion

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/text/rawjson"
)

// Path is the path at which `addon-manager webhook` serves the handler.
const Path = "/convert"

// bufferSize is the size of the parts in which a response is written, in bytes.
const bufferSize = 32 << 10

// NewHandler returns a handler of the API server's ConversionReviews (v1) of
// ClusterManagementAddOns. It has no state, so any number of replicas can serve it.
//
// It decodes nothing, and writes each converted object from the body of the request. So
// no object takes memory, and it converts every object that an API server can store.
func NewHandler(log logr.Logger) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, body *http.Request) {
		request, err := readRequest(body.Body)
		if err != nil {
			log.Info("Cannot read a conversion request", "reason", err.Error())
			http.Error(writer, err.Error(), http.StatusBadRequest)
			return
		}
		refused := request.check()
		if refused != nil {
			log.Info("Conversion failed", "uid", word(request.uid), "reason", refused.Error())
		}
		writer.Header().Set("Content-Type", "application/json")
		if err := request.respond(writer, refused); err != nil {
			log.Error(err, "Cannot write the response to a conversion request")
		}
	})
}

// request has the parts of a ConversionReview that the handler reads.
type request struct {
	uid, objects []byte
	desired      string
}

func readRequest(body io.Reader) (request, error) {
	var content []byte
	if read, ok := body.(interface{ Bytes() []byte }); ok { // package limits has read the body already
		content = read.Bytes()
	} else {
		var err error
		if content, err = io.ReadAll(body); err != nil {
			return request{}, fmt.Errorf("read the ConversionReview: %w", err)
		}
	}
	if !json.Valid(content) {
		return request{}, errors.New("read the ConversionReview: it is not valid JSON")
	}
	version, kind := word(rawjson.Find(content, "apiVersion")), word(rawjson.Find(content, "kind"))
	if version != apiextensionsv1.SchemeGroupVersion.String() || kind != "ConversionReview" {
		return request{}, fmt.Errorf("got a %s of %q, want a ConversionReview of %s", kind, version, apiextensionsv1.SchemeGroupVersion)
	}
	review := rawjson.Find(content, "request")
	if !rawjson.IsObject(review) {
		return request{}, errors.New("the ConversionReview has no request")
	}
	return request{
		uid: rawjson.Find(review, "uid"), objects: rawjson.Find(review, "objects"), desired: word(rawjson.Find(review, "desiredAPIVersion")),
	}, nil
}

// check returns an error if any object cannot be converted. The API server then accepts no objects.
func (r request) check() error {
	for object := range rawjson.Elements(r.objects) {
		if _, err := converter(object, r.desired); err != nil {
			return err
		}
	}
	return nil
}

// respond writes all objects, unless they are refused.
func (r request) respond(writer io.Writer, refused error) error {
	result := metav1.Status{Status: metav1.StatusSuccess}
	if refused != nil {
		result, r.objects = metav1.Status{Status: metav1.StatusFailure, Message: refused.Error()}, nil
	}
	encoded, err := json.Marshal(result)
	if err != nil {
		return err
	}
	parts := &parts{writer: writer}
	out := output{bufio.NewWriterSize(parts, bufferSize)}
	out.put(`{"apiVersion":"`, apiextensionsv1.SchemeGroupVersion.String(), `","kind":"ConversionReview","response":{"result":`)
	out.copy(encoded)
	if r.uid != nil {
		out.put(`,"uid":`)
		out.copy(r.uid)
	}
	separator := `,"convertedObjects":[`
	for object := range rawjson.Elements(r.objects) {
		out.put(separator)
		separator = ","
		convert, err := converter(object, r.desired)
		if err != nil { // cannot happen after check
			return err
		}
		convert.write(out, object)
		if _, err := out.Write(nil); err != nil { // no one reads the response
			return err
		}
	}
	if separator != "," {
		out.put(separator)
	}
	out.put("]}}")
	parts.last = true
	return out.Flush()
}
