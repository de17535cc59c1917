// Package graft tests addon-manager's graft of OCM's CRD of ClusterManagementAddOns. OCM's operator installed the hub and keeps
// applying it. OCM's
// conversion webhook, OCM's addon manager and Interlock's webhook run as processes.
package graft

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv/ocm"
	"open-cluster-management.io/interlock/test/witness"
	"open-cluster-management.io/interlock/test/witness/suite"
)

const namespace = "interlock-system"

var (
	hub    *ocm.Hub
	admin  client.Client
	binary string // path of addon-manager
	// observer judges writes by Interlock that changed nothing, and lost declarations.
	observer *witness.Witness
)

func TestGraft(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "CRD grafting")
}

var _ = BeforeSuite(func(ctx context.Context) {
	SetDefaultEventuallyTimeout(40 * time.Second)
	SetDefaultEventuallyPollingInterval(20 * time.Millisecond)
	SetDefaultConsistentlyDuration(time.Second)
	SetDefaultConsistentlyPollingInterval(20 * time.Millisecond)
	klog.SetLogger(GinkgoLogr)
	ctrl.SetLogger(GinkgoLogr)

	binary = setup.Program("addon-manager")
	var err error
	options := ocm.HubOptions{Operator: true}
	var auditLog string
	options.Flags, auditLog, err = witness.AuditFlags(GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	hub, err = ocm.StartHub(ctx, options)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(hub.Stop)
	// Conditions and labels are not judged, because the suite changes too many of them. Deletions are not judged either, because the
	// suite does not
	// declare its own.
	observer = suite.Start(ctx, witness.Options{Hub: hub.Config, AuditLog: auditLog}, suite.Undeclared)

	scheme := runtime.NewScheme()
	Expect(errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme))).To(Succeed())
	config := rest.CopyConfig(hub.Config)
	config.QPS = -1
	admin, err = client.New(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	for _, name := range []string{namespace, "cluster1"} {
		Expect(admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	}
	deployWebhook(ctx)
}, NodeTimeout(5*time.Minute))
