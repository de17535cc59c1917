package guard

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"

	hubguard "open-cluster-management.io/interlock/pkg/hub/guard"
)

// guarded is a stand-in whose add-on the guard holds, and what was seen of it.
type guarded struct {
	*standIn
	customized, attended bool

	fallen *events // since before the dependency was declared
	quiet  *events // since it insisted in vain for the first time
	before state
}

// state is what may not move while a stand-in insists.
type state struct{ resourceVersion, label string }

func (g *guarded) state(ctx context.Context) state {
	return state{g.read(ctx, viaStorage).GetResourceVersion(), g.label(ctx)}
}

func (g *guarded) String() string {
	writer, agent := "the registration agent", "without our agent"
	if g.customized {
		writer = "a health prober in Customized mode"
	}
	if g.attended {
		agent = "with our agent"
	}
	return writer + ", " + agent
}

// fleetOf are all kinds of stand-ins, each beside our agent and alone.
func (f *form) fleetOf(ctx context.Context) []*guarded {
	GinkgoHelper()
	var all []*guarded
	for _, g := range []*guarded{{}, {attended: true}, {customized: true}, {customized: true, attended: true}} {
		says := runs()
		if g.customized {
			says = probed()
		}
		g.standIn = f.newStandIn(ctx, says)
		if g.customized {
			g.customize(ctx)
		}
		g.write(ctx, viaBeta, say(says))
		if g.attended {
			g.attend()
		}
		all = append(all, g)
	}
	return all
}

// insistentWriters insist on all hubs at the same time, each on its own
// cluster, for it is waiting that takes the time.
func insistentWriters() {
	const duration = 10 * time.Second
	fleets := map[*form][]*guarded{}
	var uncontrolled []*contested

	BeforeAll(func(ctx context.Context) {
		var all, hurried []*standIn
		uncontrolled = contestants(ctx)
		for _, c := range uncontrolled {
			hurried = append(hurried, c.standIn)
		}
		for _, f := range []*form{asPolicy, asWebhook} {
			DeferCleanup(f.leave) // when addon-manager has stopped
			f.manage(ctx, hubguard.ModeAuto)
			f.awaitForce(ctx, true)
			fleets[f] = f.fleetOf(ctx)
			for _, g := range fleets[f] {
				g.fallen = g.watch(ctx)
				all = append(all, g.standIn)
			}
			f.register(ctx)
			for _, g := range fleets[f] {
				g.awaitFall(ctx)
				Eventually(g.availability(ctx)).Should(Equal(required), g.String())
			}
		}
		// The first may come to own the condition.
		Expect(insistTogether(ctx, all, time.Second, 1500*time.Millisecond)).To(Succeed())
		for _, fleet := range fleets {
			for _, g := range fleet {
				g.written.Store(0)
				g.before, g.quiet = g.state(ctx), g.watch(ctx)
			}
		}
		var insisting errgroup.Group
		// Their last answers, after 0, 0.5, 1, 2 and 4 s, come while the others still insist.
		insisting.Go(func() error { return insistTogether(ctx, hurried, time.Second/2, duration-3*time.Second) })
		insisting.Go(func() error { return insistTogether(ctx, all, time.Second, duration) })
		Expect(insisting.Wait()).To(Succeed())
	})

	for _, f := range []*form{asPolicy, asWebhook} {
		It("are not heard while it is in force "+f.name, func(ctx context.Context) {
			for _, g := range fleets[f] {
				By(g.String())
				Expect(g.written.Load()).To(BeNumerically(">=", 5), "it insisted")
				Expect(g.fallen.all.Load()).To(BeNumerically(">=", 1), "the watch works")
				Expect(g.fallen.available.Load()).To(BeZero(), "Available=True on the watch since the dependency was declared")
				Expect(g.quiet.all.Load()).To(BeZero(), "events")
				Expect(g.state(ctx)).To(Equal(g.before))
				Expect(ownedBy(g.read(ctx, viaStorage), manager)).NotTo(ContainSubstring("Available"))
			}
		})
	}

	It("are answered by our agent alone at a bounded rate, and have not the last word", func(ctx context.Context) {
		for _, c := range uncontrolled {
			c.expectBounded(ctx)
		}
		By("the dependency being there, the prober has its word back")
		prober := uncontrolled[1]
		prober.provide(ctx)
		Eventually(prober.availability(ctx)).Should(Equal("AwaitingHealthCheck"))
		Expect(find(prober.write(ctx, viaBeta, say(prober.says)), "Available")).To(Equal(prober.says))
		Consistently(prober.availability(ctx)).Should(Equal("ProbeAvailable"))
	})

	It("have their word back from it once the dependency is there", func(ctx context.Context) {
		for _, f := range []*form{asPolicy, asWebhook} {
			for _, g := range fleets[f] {
				By(f.name + ": " + g.String())
				g.provide(ctx)
				Eventually(func() any { return find(g.read(ctx, viaStorage), "Degraded")["status"] }).Should(Equal("False"))
				switch {
				case !g.attended:
					Expect(g.availability(ctx)()).To(Equal(required), "until somebody speaks again")
				case g.customized:
					Eventually(g.availability(ctx)).Should(Equal("AwaitingHealthCheck"))
				default:
					Eventually(g.availability(ctx)).Should(Equal("ManagedClusterAddOnLeaseNotFound"), "it keeps no lease")
					continue
				}
				Expect(find(g.write(ctx, viaBeta, say(g.says)), "Available")).To(Equal(g.says))
				Consistently(g.availability(ctx)).WithTimeout(300 * time.Millisecond).Should(Equal(g.says["reason"]))
			}
		}
	})
}

// comings are what happens to what was written while the guard was not there.
func comings(f *form) {
	It("late, mends what was written before with the next write", func(ctx context.Context) {
		a := f.newAddOn(ctx)
		a.write(ctx, viaStorage, withConditions(runs(), fails(missing)))
		f.arrive(ctx)
		Expect(find(a.read(ctx, viaStorage), "Available")).To(Equal(runs()), "it acts on writes only")
		Expect(find(a.write(ctx, viaBeta, say(progressing())), "Available")).To(Equal(held(early)))
	})

	It("is mended after: by our agent at once, without it by the next write", func(ctx context.Context) {
		s, alone := f.newStandIn(ctx, runs()), f.newStandIn(ctx, runs())
		f.arrive(ctx)
		f.manage(ctx, "")
		f.register(ctx)
		for _, each := range []*standIn{s, alone} {
			each.awaitFall(ctx)
			each.write(ctx, viaBeta, say(runs()))
			Expect(each.availability(ctx)()).To(Equal(required))
		}
		f.leave(ctx)
		for _, each := range []*standIn{s, alone} {
			Expect(find(each.write(ctx, viaBeta, say(runs())), "Available")).To(Equal(runs()))
		}
		Consistently(s.availability(ctx)).ShouldNot(Equal(required), "nobody is there to correct it")

		By("our agent coming, and staying when the guard is back")
		s.attend()
		Eventually(s.availability(ctx)).Should(Equal(required))
		f.arrive(ctx)
		s.write(ctx, viaBeta, say(runs()))
		Expect(s.availability(ctx)()).To(Equal(required))

		By("the next write, of anybody, where our agent is not")
		Expect(alone.availability(ctx)()).NotTo(Equal(required))
		Expect(find(alone.write(ctx, viaBeta, say(progressing())), "Available")["reason"]).To(Equal(required))
	})
}

func progressing() map[string]any { return entry("Progressing", "True", "Installing", "wait", early) }
