//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// denied sends a request that the webhook denies. The API server lets it pass if it does not reach the webhook, or
// does not trust it.
func denied(ctx context.Context) error {
	narcissus := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{
		Name:        "narcissus",
		Annotations: map[string]string{addonv1alpha1.DependenciesAnnotation: "- name: narcissus"},
	}}
	narcissus.Spec.InstallStrategy.Type = "Manual"
	switch err := hub.Create(ctx, narcissus, client.DryRunAll); {
	case err == nil:
		return errors.New("an add-on that depends on itself was let pass")
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "narcissus → narcissus"):
		return nil
	default:
		return fmt.Errorf("an add-on that depends on itself was not denied as such: %w", err)
	}
}

// converted writes the registration "dependent", which has a single dependency, in the version that is not stored. Only
// the webhook's conversion keeps the dependency.
func converted(ctx context.Context) error {
	newer := &ocmv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "dependent"}}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"written":%q}}}`, time.Now())
	if err := hub.Patch(ctx, newer, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		return fmt.Errorf("write through v1beta1: %w", err)
	}
	older := &addonv1alpha1.ClusterManagementAddOn{}
	if err := hub.Get(ctx, client.ObjectKeyFromObject(newer), older); err != nil {
		return err
	}
	if len(older.Spec.Dependencies) != 1 {
		return errors.New("its dependency was lost on the way through v1beta1")
	}
	return nil
}

// trusted connects to every pod of the webhook, with the authority that the API server is configured to trust. The
// API server itself keeps its connections, so it would notice an untrusted certificate only after one of them has
// ended.
func trusted(ctx context.Context) error {
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := hub.Get(ctx, client.ObjectKey{Name: webhook}, configuration); err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(configuration.Webhooks[0].ClientConfig.CABundle)
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: webhook + "." + namespace + ".svc", MinVersion: tls.VersionTLS12}}
	var pods corev1.PodList
	if err := hub.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabels{"app.kubernetes.io/name": webhook}); err != nil {
		return err
	}
	if len(pods.Items) == 0 {
		return errors.New("there are no pods of the webhook")
	}
	for _, pod := range pods.Items {
		connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(pod.Status.PodIP, "9443"))
		if err != nil {
			return fmt.Errorf("connect to %s: %w", pod.Name, err)
		}
		_ = connection.Close() // nothing was sent
	}
	return nil
}

// expectGuarded expects that Available stays False after any write, on a cluster without an agent. So only the guard
// keeps it False.
func expectGuarded(ctx context.Context) {
	GinkgoHelper()
	key := inNamespace(ctx, "unattended", "dependent")
	install(ctx, key)
	Eventually(conditionOf(ctx, key, degraded)).Should(be(metav1.ConditionTrue, required))
	Eventually(func(g Gomega) {
		setCondition(ctx, key, metav1.Condition{Type: available, Status: metav1.ConditionTrue, Reason: renewed})
		g.Expect(conditionOf(ctx, key, available)()).To(be(metav1.ConditionFalse, required))
	}).Should(Succeed())
	uninstall(ctx, key)
}

// requests are repeated a few times every second. Each is expected to succeed.
type requests struct {
	// failures may be read after stop.
	failures []error

	rounds  atomic.Int64
	running sync.WaitGroup
	end     context.CancelFunc
}

func keepRequesting(ctx context.Context, calls ...func(context.Context) error) *requests {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &requests{end: cancel}
	r.running.Go(func() {
		pace := time.NewTicker(100 * time.Millisecond)
		defer pace.Stop()
		for {
			for _, call := range calls {
				if err := call(ctx); err != nil && ctx.Err() == nil {
					r.failures = append(r.failures, fmt.Errorf("%s: %w", time.Now().Format(time.TimeOnly), err))
				}
			}
			r.rounds.Add(1)
			select {
			case <-ctx.Done():
				return
			case <-pace.C:
			}
		}
	})
	return r
}

// awaitMore waits for some more rounds of requests.
func (r *requests) awaitMore() {
	GinkgoHelper()
	Eventually(r.rounds.Load).Should(BeNumerically(">", r.rounds.Load()+20))
}

func (r *requests) stop() {
	r.end()
	r.running.Wait()
}
