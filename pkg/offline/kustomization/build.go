// Package kustomization builds kustomizations like `kubectl apply -k`, with the same library.
package kustomization

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
)

// Build returns the objects of a folder that has a kustomization.
func Build(folder string) ([]*unstructured.Unstructured, error) {
	infos, err := resource.NewLocalBuilder().Unstructured().Flatten().
		FilenameParam(false, &resource.FilenameOptions{Kustomize: folder}).Do().Infos()
	if err != nil {
		return nil, fmt.Errorf("build the kustomization in %s: %w", folder, err)
	}
	objects := make([]*unstructured.Unstructured, len(infos))
	for i, info := range infos {
		object, ok := info.Object.(*unstructured.Unstructured)
		if !ok {
			return nil, fmt.Errorf("build the kustomization in %s: unexpected type %T of %s", folder, info.Object, info.Name)
		}
		objects[i] = object
	}
	return objects, nil
}
