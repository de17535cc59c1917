package conversion

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	// Path is where `addon-manager webhook` serves the handler.
	Path = "/convert"

	// maxRequest bounds the memory of one request, because any client in the
	// cluster may send one. A thousand large registrations are smaller.
	maxRequest = 32 << 20
)

// NewHandler returns a handler of the API server's ConversionReviews (v1) of
// ClusterManagementAddOns. It has no state, so any number of replicas can serve it.
func NewHandler(log logr.Logger) http.Handler {
	return newHandler(log, maxRequest)
}

func newHandler(log logr.Logger, limit int64) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		review, err := readReview(http.MaxBytesReader(writer, request.Body, limit))
		if err != nil {
			log.Info("Cannot read a conversion request", "reason", err.Error())
			http.Error(writer, err.Error(), codeOf(err))
			return
		}
		review.Response = respond(review.Request)
		if review.Response.Result.Status != metav1.StatusSuccess {
			log.Info("Conversion failed", "uid", review.Request.UID, "reason", review.Response.Result.Message)
		}
		review.Request = nil
		writer.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(writer).Encode(review); err != nil {
			log.Error(err, "Cannot write the response to a conversion request")
		}
	})
}

func codeOf(err error) int {
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

func readReview(body io.Reader) (*apiextensionsv1.ConversionReview, error) {
	review := &apiextensionsv1.ConversionReview{}
	if err := json.NewDecoder(body).Decode(review); err != nil {
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

// respond converts all objects or none, as the API server requires.
func respond(request *apiextensionsv1.ConversionRequest) *apiextensionsv1.ConversionResponse {
	response := &apiextensionsv1.ConversionResponse{
		UID:    request.UID,
		Result: metav1.Status{Status: metav1.StatusSuccess},
	}
	for _, object := range request.Objects {
		converted, err := Convert(object.Raw, request.DesiredAPIVersion)
		if err != nil {
			response.ConvertedObjects = nil
			response.Result = metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}
			return response
		}
		response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Raw: converted})
	}
	return response
}
