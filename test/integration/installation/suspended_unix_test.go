//go:build unix

package installation

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/setup/interlock"
)

// elect starts an addon-manager that takes part in the leader election.
func elect() *interlock.Running {
	GinkgoHelper()
	replica := deployment.Manage("--guard=off", "--lifecycle", "--lifecycle-removal-delay=1h")
	DeferCleanup(func() error {
		if err := replica.Kill(); !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		return nil // it has noticed that another one leads
	})
	return replica
}

// leader returns the holder of the lease.
func leader(ctx context.Context) (string, error) {
	lease := &coordinationv1.Lease{}
	err := hub.Client.Get(ctx, client.ObjectKey{Namespace: interlock.Namespace, Name: names.AddonManager}, lease)
	return ptr.Deref(lease.Spec.HolderIdentity, ""), client.IgnoreNotFound(err)
}

func signal(process *interlock.Running, signal syscall.Signal) {
	GinkgoHelper()
	Expect(syscall.Kill(process.PID(), signal)).To(Succeed())
}

var _ = Describe("An addon-manager that was suspended while it led", func() {
	It("installs nothing after another one has replaced it, although it has not noticed that yet", func(ctx context.Context) {
		stopManaging()
		register(ctx, "su-manual", manual, "[]", onDemand)
		register(ctx, "su-label", consent(ctx, "su-label"), "[]", "")
		register(ctx, "su-leaf", manual, "[{name: su-manual, install: Auto}, {name: su-label, install: Auto}]", "")
		first := elect()
		Eventually(first.Printed).WithArguments("Starting workers").Should(BeTrue())
		firstLeader, err := leader(ctx)
		Expect(err).NotTo(HaveOccurred())

		signal(first, syscall.SIGSTOP)
		second := elect()
		Eventually(leader).WithContext(ctx).WithTimeout(time.Minute).ShouldNot(Or(Equal(firstLeader), BeEmpty()))
		Eventually(second.Printed).WithArguments("Starting workers").Should(BeTrue())
		signal(second, syscall.SIGSTOP) // so that only the former leader runs, and its lease is not lost for 15 seconds
		signal(first, syscall.SIGCONT)
		install(ctx, "east", "su-leaf")
		for _, addOn := range []string{"su-manual", "su-label"} {
			Consistently(phase(ctx, "east", addOn)).Should(BeEmpty())
		}
		Expect(first.Done()).NotTo(BeClosed(), "it has run all the time")

		signal(second, syscall.SIGCONT)
		for _, addOn := range []string{"su-manual", "su-label"} {
			Eventually(phase(ctx, "east", addOn)).Should(Equal("Installed"))
		}
	})
})
