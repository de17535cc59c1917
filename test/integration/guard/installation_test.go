package guard

import (
	"context"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/compat/rule"
	"open-cluster-management.io/interlock/pkg/compat/rule/installer"
	"open-cluster-management.io/interlock/pkg/names"
)

// versions returns the resourceVersions of the guard's objects by kind.
func (f *form) versions(ctx context.Context) func() (map[string]string, error) {
	return func() (map[string]string, error) {
		versions := map[string]string{}
		for _, object := range append(policyObjects(), webhookObjects(asWebhook.server)...) {
			err := f.client.Get(ctx, client.ObjectKeyFromObject(object), object)
			switch {
			case err == nil:
				versions[object.GetKind()] = object.GetResourceVersion()
			case !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err): // not every hub serves policies
				return nil, err
			}
		}
		return versions, nil
	}
}

func (f *form) kinds() []any {
	var kinds []any
	for _, object := range f.objects {
		kinds = append(kinds, object.GetKind())
	}
	return kinds
}

// installation tests addon-manager with either form.
func installation(f *form) {
	AfterEach(func(ctx context.Context) {
		f.leave(ctx)
	})

	It("in the form that the hub supports, restores it, and removes it with --guard=off", func(ctx context.Context) {
		stop := f.manage(ctx, installer.ModeAuto)
		f.awaitForce(ctx, true)
		Expect(f.versions(ctx)()).To(And(HaveLen(len(f.objects)), HaveKey(f.kinds()[0])))

		By("no writer changing it")
		versionsBefore, err := f.versions(ctx)()
		Expect(err).NotTo(HaveOccurred())
		Consistently(f.versions(ctx)).WithTimeout(1500 * time.Millisecond).Should(Equal(versionsBefore))

		By("another writer changing each of its objects")
		for _, object := range f.objects {
			Eventually(f.isIntact(ctx, object)).Should(BeTrue())
			Expect(f.client.Patch(ctx, object.DeepCopy(), damage(object))).To(Succeed())
			Expect(f.isIntact(ctx, object)()).To(BeFalse())
			Eventually(f.isIntact(ctx, object)).Should(BeTrue())
		}

		By("another writer deleting it")
		for _, object := range f.objects {
			Expect(f.client.Delete(ctx, object.DeepCopy())).To(Succeed())
		}
		Eventually(f.versions(ctx)).Should(HaveLen(len(f.objects)))
		f.awaitForce(ctx, true)

		By("addon-manager stopping: it stays")
		stop()
		Consistently(f.versions(ctx)).Should(HaveLen(len(f.objects)))

		By("addon-manager starting with it off")
		f.manage(ctx, installer.ModeOff)
		Eventually(f.versions(ctx)).Should(BeEmpty())
	})

	It("corrects conditions that were written before it came into force, where no other component writes", func(ctx context.Context) {
		a := f.newAddOn(ctx)
		stop := f.manage(ctx, "")
		f.register(ctx)
		a.awaitFailure(ctx)
		Expect(find(a.write(ctx, viaBeta, setCondition(availableTrue())), "Available")).To(Equal(availableTrue()))
		stop()
		stop = f.manage(ctx, installer.ModeAuto)
		Eventually(a.availability(ctx)).Should(Equal(required))
		Expect(ownedBy(a.get(ctx, viaStorage), names.AddonManager)).NotTo(ContainSubstring("Available"))

		By("staying so: it is written once")
		version := a.get(ctx, viaStorage).GetResourceVersion()
		Consistently(
			func() string { return a.get(ctx, viaStorage).GetResourceVersion() },
		).WithTimeout(1500 * time.Millisecond).
			Should(Equal(version))
		stop()
	})

	It("leaves objects of others alone", func(ctx context.Context) {
		foreign := f.objects[0].DeepCopy()
		foreign.SetLabels(nil)
		Expect(f.client.Create(ctx, foreign)).To(Succeed())
		ownObjects := slices.Clone(f.objects[1:])
		for _, object := range ownObjects {
			Expect(f.client.Create(ctx, object.DeepCopy())).To(Succeed())
		}
		f.manage(ctx, installer.ModeOff)
		Eventually(f.versions(ctx)).Should(HaveLen(1))
		Consistently(f.versions(ctx)).WithTimeout(500 * time.Millisecond).Should(And(HaveLen(1), HaveKey(foreign.GetKind())))
	})
}

// choice tests which form addon-manager installs.
func choice() {
	It("replaces the webhook by the policy", func(ctx context.Context) {
		for _, object := range asWebhook.objects {
			Expect(asPolicy.client.Create(ctx, object.DeepCopy())).To(Succeed())
		}
		DeferCleanup(asPolicy.leave)
		asPolicy.manage(ctx, installer.ModePolicy)
		Eventually(
			asPolicy.versions(ctx),
		).Should(And(HaveKey(rule.KindPolicy), HaveKey(rule.KindBinding), Not(HaveKey(rule.KindWebhook))))
	})

	It("does not mistake the policy that is still installed for a webhook that responds", func(ctx context.Context) {
		forms := policyToReplace(ctx)
		asPolicy.awaitForce(ctx, true)
		asPolicy.newAddOn(ctx) // for the probe
		asWebhook.server.stop()
		restart := sync.OnceFunc(asWebhook.server.start)
		DeferCleanup(restart)
		forms.deployWebhook(ctx, asWebhook.server)
		stop := forms.manage(ctx, installer.ModeWebhook)
		Eventually(asPolicy.versions(ctx)).Should(HaveKey(rule.KindWebhook))
		Consistently(asPolicy.versions(ctx)).WithTimeout(2 * time.Second).Should(HaveKey(rule.KindPolicy))

		By("responding: the webhook takes the policy's place")
		restart()
		Eventually(asPolicy.versions(ctx)).Should(And(HaveLen(1), HaveKey(rule.KindWebhook)))
		stop()
	})

	It("replaces the policy by the webhook if that is requested", func(ctx context.Context) {
		forms := policyToReplace(ctx)
		forms.deployWebhook(ctx, asWebhook.server)
		forms.manage(ctx, installer.ModeWebhook)
		Eventually(asPolicy.versions(ctx)).Should(And(HaveLen(1), HaveKey(rule.KindWebhook)))
		forms.awaitForce(ctx, true)
	})

	DescribeTable("installs nothing that the hub does not support, and does its other work",
		func(ctx context.Context, mode installer.Mode) {
			plain := changing // without policies, and without addon-manager webhook
			plain.manage(ctx, mode)
			a := plain.newAddOn(ctx)
			a.write(ctx, viaBeta, withConditions(fails(missingBase)))
			Eventually(func() any { return find(a.get(ctx, viaStorage), "Degraded")["reason"] }).Should(Equal("DependenciesSatisfied"))
			Consistently(plain.versions(ctx)).Should(BeEmpty())
		},
		Entry("no policy", installer.ModePolicy),
		Entry("no webhook", installer.ModeWebhook),
		Entry("no policy and no webhook", installer.ModeAuto),
	)
}

// policyToReplace installs the policy, and returns the hub's two forms as one.
func policyToReplace(ctx context.Context) *form {
	GinkgoHelper()
	for _, object := range asPolicy.objects {
		Expect(asPolicy.client.Create(ctx, object.DeepCopy())).To(Succeed())
	}
	forms := &form{name: "as either", cluster: asPolicy.cluster, client: asPolicy.client}
	forms.objects = append(append(forms.objects, asPolicy.objects...), asWebhook.objects...)
	DeferCleanup(forms.leave)
	return forms
}

// damage returns a change after which the object does not guard as it should.
func damage(object *unstructured.Unstructured) client.Patch {
	var patch string
	switch object.GetKind() {
	case rule.KindPolicy:
		patch = `{"spec":{"matchConditions":null}}`
	case rule.KindBinding:
		patch = `{"metadata":{"labels":null}}`
	case rule.KindWebhook:
		patch = `{"webhooks":null}`
	}
	return client.RawPatch(types.MergePatchType, []byte(patch))
}

// isIntact reports whether all fields that damage removes exist.
func (f *form) isIntact(ctx context.Context, object *unstructured.Unstructured) func() (bool, error) {
	return func() (bool, error) {
		current := object.DeepCopy()
		if err := f.client.Get(ctx, client.ObjectKeyFromObject(object), current); err != nil {
			return false, err
		}
		conditions, _, _ := unstructured.NestedSlice(current.Object, "spec", "matchConditions")
		webhooks, _, _ := unstructured.NestedSlice(current.Object, "webhooks")
		whole := map[string]bool{
			rule.KindPolicy:  len(conditions) > 0,
			rule.KindBinding: current.GetLabels()[names.ManagedBy] == names.AddonManager,
			rule.KindWebhook: len(webhooks) > 0,
		}
		return whole[object.GetKind()], nil
	}
}
