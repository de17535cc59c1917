package ownmanager

import (
	"context"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/witness"
)

const (
	closed = interlockv1alpha1.GateClosed
	opened = interlockv1alpha1.GateOpen
	// quiet is how long the requests of a manager are counted: four polls of OCM's registration agent.
	quiet = 8 * time.Second
	// perQuiet bounds the requests of a manager in that time while nothing changes. A watch that ends causes a request.
	perQuiet = 5
	// perChange bounds the requests of a manager after a change of the add-on.
	perChange = 60

	firstImage, secondImage = "registry.example/agent:1", "registry.example/agent:2"
)

// ownManager is the manager of an add-on.
type ownManager interface {
	// requests counts all requests of the manager to the hub.
	requests(ctx context.Context) (int, error)
}

var _ = Describe("An add-on with its own manager", Ordered, func() {
	var managers map[string]ownManager
	var accounts *processManager

	BeforeAll(func(ctx context.Context) {
		for _, name := range []string{serviceAccounts, proxy} {
			installCRDs(ctx, name)
		}
		for _, name := range []string{serviceAccounts, proxy, hello} {
			register(ctx, name, "{ordering: Install, dependencies: [{name: base}]}")
		}
		accounts = startAccountManager(firstImage)
		proxies := startProxyManager(ctx)
		DeferCleanup(func() error { return errors.Join(accounts.Kill(), proxies.Kill()) })
		managers = map[string]ownManager{serviceAccounts: accounts, proxy: proxies, hello: startHelloManager()}
	}, NodeTimeout(2*time.Minute))

	It("waits for its dependency with the gate rule in each form, and its manager does not insist", func(ctx context.Context) {
		registerTemplated(ctx, "base")
		for name := range managers {
			Eventually(dryRunGate).WithContext(ctx).WithArguments(name).Should(Equal(closed))
			install(ctx, name)
			Expect(gate(ctx, name)).To(Equal(closed))
		}
		for name := range managers {
			Eventually(condition).WithContext(ctx).WithArguments(name, "Installable").Should(
				HavePrefix("False WaitingForDependencies: Required addon 'base' is not installed"))
			Eventually(registrations).WithContext(ctx).WithArguments(name).Should(BeNumerically(">", 0), "%s: its manager prepares it", name)
		}
		for _, form := range []string{"webhook", "policy"} {
			By("with the gate rule as a " + form)
			manage(ctx, form)
			expectQuiet(ctx, managers)
			for name, manager := range managers {
				expectNoRetries(ctx, name, manager)
				Expect(workContent(ctx, name)).To(BeEmpty())
				Expect(condition(ctx, name, addonv1alpha1.ManagedClusterAddOnRegistrationApplied)).To(BeEmpty())
			}
		}

		By("its dependency being installed")
		start := time.Now()
		install(ctx, "base")
		for name := range managers {
			Eventually(workContent).WithContext(ctx).WithArguments(name).ShouldNot(BeEmpty())
			AddReportEntry("from the installation of the dependency until the ManifestWork of "+name, time.Since(start).String())
			Eventually(history.Made.First).WithArguments(cluster, name).Should(BeNumerically(">", 0), "the history follows")
			Eventually(history.Available.First).WithArguments(cluster, "base").Should(BeNumerically(">", 0))
			Expect(history.Made.First(cluster, name)).To(BeNumerically(">", history.Available.First(cluster, "base")))
			Expect(gate(ctx, name)).To(Equal(opened))
			Expect(condition(ctx, name, addonv1alpha1.ManagedClusterAddOnRegistrationApplied)).To(HavePrefix("True"))
		}
		for name := range managers {
			Eventually(condition).WithContext(ctx).WithArguments(name, "Degraded").Should(HavePrefix("False"))
			if name != proxy { // nothing makes the Deployments in its namespace available
				Eventually(condition).WithContext(ctx).WithArguments(name, "Available").Should(HavePrefix("True"))
			}
		}
	}, NodeTimeout(3*time.Minute))

	It("is upgraded by its manager whatever it requires, and Degraded reports what is missing", func(ctx context.Context) {
		Expect(workContent(ctx, serviceAccounts)).To(ContainSubstring(firstImage))

		Expect(declareWarned(ctx, serviceAccounts, "{ordering: InstallAndUpgrade, dependencies: [{name: missing}]}")).To(
			ContainElement(ContainSubstring("its installation waits, but its upgrades do not. Declare Install;")))
		Eventually(condition).WithContext(ctx).WithArguments(serviceAccounts, "Degraded").Should(
			HavePrefix("True RequiredDependencyNotSatisfied: Required addon 'missing' is not installed"))
		Expect(accounts.Kill()).To(Succeed())
		accounts = startAccountManager(secondImage)
		Eventually(workContent).WithContext(ctx).WithArguments(serviceAccounts).Should(ContainSubstring(secondImage))
		Expect(condition(ctx, serviceAccounts, "Degraded")).To(HavePrefix("True RequiredDependencyNotSatisfied"))
		Expect(condition(ctx, serviceAccounts, "Upgradable")).To(BeEmpty())
	}, NodeTimeout(time.Minute))

	It("is configured with the settings that its dependents request", func(ctx context.Context) {
		const domain = "domain.of.router"
		Expect(workContent(ctx, proxy)).NotTo(ContainSubstring(domain))
		registerTemplated(ctx, "router")
		declare(ctx, "router", "[{name: "+proxy+", install: Auto, settings: {variables: [{name: serviceDomain, value: "+domain+"}]}}]")
		configured := &addonv1alpha1.ManagedClusterAddOn{}
		Expect(hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: proxy}, configured)).To(Succeed())
		configured.Spec.Configs = []addonv1alpha1.AddOnConfig{fleet.SettingsReference(client.ObjectKeyFromObject(configured))}
		Expect(hub.Client.Update(ctx, configured)).To(Succeed())
		install(ctx, "router")
		Eventually(workContent).WithContext(ctx).WithArguments(proxy).Should(ContainSubstring("kubernetes.default." + domain))
	}, NodeTimeout(time.Minute))
})

// expectQuiet counts writes and requests while gates are closed and nothing changes.
func expectQuiet(ctx context.Context, managers map[string]ownManager) {
	GinkgoHelper()
	w, err := witness.Start(ctx, witness.Options{Hub: hub.Config, AuditLog: hub.AuditLog})
	Expect(err).NotTo(HaveOccurred())
	defer w.Stop()
	Expect(w.Settle(ctx, 3*time.Second)).To(Succeed())
	requestsBefore := map[string]int{}
	for name, manager := range managers {
		requestsBefore[name], err = manager.requests(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(requestsBefore[name]).To(BeNumerically(">", 0), name)
	}
	counts, err := w.Quiet(ctx, quiet)
	Expect(err).NotTo(HaveOccurred())
	for _, row := range counts.Rows {
		Expect(row.Writer.Interlock()).To(BeFalse(), counts.String())
		Expect(managers).NotTo(HaveKey(row.Writer.Manager), counts.String())
	}
	Expect(w.Findings(ctx)).To(BeEmpty())
	for name, manager := range managers {
		requestsAfter, err := manager.requests(ctx)
		Expect(err).NotTo(HaveOccurred())
		AddReportEntry(fmt.Sprintf("requests of the manager of %s in %s", name, quiet), requestsAfter-requestsBefore[name])
		Expect(requestsAfter-requestsBefore[name]).To(BeNumerically("<=", perQuiet), name)
	}
}

// expectNoRetries changes an add-on whose gate is closed. Its manager tries to set RegistrationApplied again, and soon stops.
func expectNoRetries(ctx context.Context, name string, manager ownManager) {
	GinkgoHelper()
	requestsBefore, err := manager.requests(ctx)
	Expect(err).NotTo(HaveOccurred())
	touch(ctx, name, fmt.Sprint(requestsBefore))
	Eventually(manager.requests).WithContext(ctx).Should(BeNumerically(">", requestsBefore), name)
	var requestsAfter int
	Eventually(func() (increase int, err error) {
		previous := requestsAfter
		requestsAfter, err = manager.requests(ctx)
		return requestsAfter - previous, err
	}).WithContext(ctx).WithPolling(2*time.Second).Should(BeZero(), name)
	AddReportEntry("requests of the manager of "+name+" after one change", requestsAfter-requestsBefore)
	Expect(requestsAfter-requestsBefore).To(BeNumerically("<=", perChange), name)
}

// declareWarned replaces the declaration of a registered add-on, and returns the warnings of the hub's API server.
func declareWarned(ctx context.Context, name, declaration string) (warnings []string, err error) {
	config := rest.CopyConfig(hub.Config)
	config.WarningHandler = warningsInto(func(text string) { warnings = append(warnings, text) })
	writer, err := client.New(config, client.Options{Scheme: hub.Client.Scheme()})
	if err != nil {
		return nil, err
	}
	registration := registration(name)
	if err := writer.Get(ctx, client.ObjectKeyFromObject(registration), registration); err != nil {
		return nil, err
	}
	registration.Annotations[interlockv1alpha1.DependenciesAnnotation] = declaration
	err = writer.Update(ctx, registration)
	return warnings, err
}

// warningsInto receives each warning.
type warningsInto func(text string)

// HandleWarningHeader implements rest.WarningHandler.
func (w warningsInto) HandleWarningHeader(_ int, _, text string) { w(text) }
