// Package crds tests what a real API server makes of manifests/crds.
package crds

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"open-cluster-management.io/interlock/test/testenv"
)

var (
	hub       *testenv.Cluster
	hubClient client.Client
)

func TestCRDs(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "CRDs")
}

var _ = BeforeSuite(func(ctx context.Context) {
	log.SetLogger(GinkgoLogr)
	var err error
	hub, err = testenv.StartHub(ctx, testenv.Options{Name: "hub"})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return hub.Stop() })

	hubClient, err = hub.Client(apiextensionsv1.AddToScheme)
	Expect(err).NotTo(HaveOccurred())
})
