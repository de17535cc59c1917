package lossless

import (
	"context"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/offline/kustomization"
	"open-cluster-management.io/interlock/test/process"
	"open-cluster-management.io/interlock/test/testenv"
)

const (
	// grace is short, so that the CRD is restored within a test.
	grace = 3 * time.Second
	// patience is how long it may take until the hub is restored. Most cases take a second, but two cores that also compile take a
	// minute.
	patience = 2 * time.Minute
	// graftOn and graftOff are the flags that the chart renders for graftCRDs: true and false.
	graftOn, graftOff = "--graft-crds=true", "--graft-crds=false"
)

var (
	manager, webhook           *process.Process
	managerUser, webhookUser   *testenv.User
	webhookAddress, logs       string
	deployObjects              []*unstructured.Unstructured
	mutatingConfigurationKinds = map[string]bool{"MutatingWebhookConfiguration": true}
)

// install applies deploy/hub with deploy/graft. Its Service is a name of the loopback interface,
// where the process of the webhook listens.
func install(ctx context.Context) {
	GinkgoHelper()
	free := testenv.FreeAddress()
	webhookAddress = free.String()
	port := int64(free.Port)

	logs = GinkgoT().TempDir()
	var err error
	deployObjects, err = kustomization.Build("../../../hack/deployment/testdata/graft")
	Expect(err).NotTo(HaveOccurred())
	for _, object := range deployObjects {
		switch object.GetKind() {
		case "Service":
			object.Object["spec"] = map[string]any{"type": "ExternalName", "externalName": "localhost"}
		case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
			for _, webhook := range object.Object["webhooks"].([]any) {
				Expect(unstructured.SetNestedField(webhook.(map[string]any), port, "clientConfig", "service", "port")).To(Succeed())
			}
		}
	}
	deploy(ctx)
	account := "system:serviceaccount:" + namespace + ":interlock-"
	for name, user := range map[string]**testenv.User{"addon-manager": &managerUser, "webhook": &webhookUser} {
		*user, err = hub.AddUser(account+name, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
		Expect(err).NotTo(HaveOccurred())
	}
	DeferCleanup(func() {
		for _, running := range []*process.Process{manager, webhook} {
			if running != nil {
				_ = running.Kill() // it may have ended
			}
		}
	})
}

// deploy applies the objects, as Helm and kubectl do. Other writers' fields stay.
func deploy(ctx context.Context) {
	GinkgoHelper()
	for _, object := range deployObjects {
		Expect(admin.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), client.FieldOwner("helm"), client.ForceOwnership)).
			To(Succeed(), "%s %s", object.GetKind(), object.GetName())
	}
}

// undeploy deletes the objects of some kinds, or of all kinds. The namespace stays, because it could not be created again at once.
func undeploy(ctx context.Context, kinds map[string]bool) {
	GinkgoHelper()
	for _, object := range deployObjects {
		if object.GetKind() != "Namespace" && (kinds == nil || kinds[object.GetKind()]) {
			deleted := object.DeepCopy()
			Eventually(func() error { return admin.Delete(ctx, deleted) }).
				Should(Satisfy(apierrors.IsNotFound), "%s %s", object.GetKind(), object.GetName())
		}
	}
}

func startWebhook() {
	GinkgoHelper()
	var err error
	webhook, err = process.Start(program, filepath.Join(logs, "webhook.log"), "webhook", "--kubeconfig", webhookUser.Kubeconfig,
		"--namespace", namespace, "--webhook-bind-address", webhookAddress, "--metrics-bind-address=0", "--health-probe-bind-address=0")
	Expect(err).NotTo(HaveOccurred())
}

// release replaces addon-manager by one with other flags, as Helm does with new values.
func release(ctx context.Context, flags ...string) {
	GinkgoHelper()
	stopManager(ctx)
	var err error
	manager, err = process.Start(program, filepath.Join(logs, "addon-manager.log"), append(flags,
		"--kubeconfig", managerUser.Kubeconfig, "--leader-elect-namespace", namespace, "--webhook-address", webhookAddress,
		"--graft-grace-period", grace.String(), "--guard=off", "--metrics-bind-address=0", "--health-probe-bind-address=0")...)
	Expect(err).NotTo(HaveOccurred())
}

func stopManager(ctx context.Context) {
	GinkgoHelper()
	if manager != nil {
		Expect(manager.Stop(ctx)).To(Succeed())
	}
	manager = nil
}

func uninstall(ctx context.Context) {
	GinkgoHelper()
	stopManager(ctx) // the Deployment has no pods here that could be scaled down
	command, err := process.Start(program, filepath.Join(logs, "uninstall.log"), "uninstall", "--kubeconfig", hub.Kubeconfig(),
		"--namespace", namespace, "--timeout", patience.String())
	Expect(err).NotTo(HaveOccurred())
	Eventually(command.Done()).WithTimeout(2*patience).Should(BeClosed(), "it ends by itself after its --timeout")
	Expect(command.Err()).To(Succeed())
}
