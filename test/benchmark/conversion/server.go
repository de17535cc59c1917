package main

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	"open-cluster-management.io/interlock/pkg/compat/conversion"
)

// side names a conversion.
type side string

const (
	interlock side = "Interlock"
	ocm       side = "OCM alone"
)

// converter is one server with both conversions behind the same address, so all other parts are equal: the API
// server, its objects, and connections.
type converter struct {
	server *httptest.Server
	inUse  atomic.Value
	// reviews counts the reviews since the last read.
	reviews atomic.Int64
}

func startConverter() *converter {
	c := &converter{}
	c.inUse.Store(interlock)
	handlers := map[side]http.Handler{
		interlock: conversion.NewHandler(logr.Discard()),
		ocm:       http.HandlerFunc(convertTyped),
	}
	c.server = httptest.NewUnstartedServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		c.reviews.Add(1)
		handlers[c.inUse.Load().(side)].ServeHTTP(writer, request)
	}))
	c.server.EnableHTTP2 = true
	c.server.StartTLS()
	return c
}

func (c *converter) authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.server.Certificate().Raw})
}

// convertTyped calls OCM's conversion functions, with the least code around them.
func convertTyped(writer http.ResponseWriter, request *http.Request) {
	var review apiextensionsv1.ConversionReview
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	response := &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, object := range review.Request.Objects {
		converted, err := toV1beta1(object.Raw, review.Request.DesiredAPIVersion)
		if err != nil {
			http.Error(writer, err.Error(), http.StatusBadRequest)
			return
		}
		response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Raw: converted})
	}
	review.Request, review.Response = nil, response
	writer.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(writer).Encode(review) // the API server reports that it received nothing
}

func toV1beta1(raw []byte, desired string) ([]byte, error) {
	if desired != ocmv1beta1.GroupVersion.String() {
		return nil, errors.New("reads of v1beta1 alone are measured, not " + desired)
	}
	var source ocmv1alpha1.ClusterManagementAddOn
	if err := json.Unmarshal(raw, &source); err != nil {
		return nil, err
	}
	var converted ocmv1beta1.ClusterManagementAddOn
	if err := ocmv1beta1.Convert_v1alpha1_ClusterManagementAddOn_To_v1beta1_ClusterManagementAddOn(&source, &converted, nil); err != nil {
		return nil, err
	}
	converted.APIVersion, converted.Kind = desired, source.Kind
	return json.Marshal(&converted)
}
