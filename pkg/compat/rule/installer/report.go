package installer

import (
	"cmp"
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

// How often the rule is probed, because no watch shows whether it is in force:
// while it settles, while no form is in force, and in the steady state, where
// only a change of the API server matters.
const (
	recheckSettling = time.Second
	recheckNone     = time.Minute
	recheckInForce  = 5 * time.Minute
)

// Timing shortens waits for tests. Zero values are the defaults.
type Timing struct {
	// Settling is how long the API server may take to act on an object that was
	// installed, and on its CA. Default: 10 s.
	Settling time.Duration
	// Recheck is the longest time between two probes.
	Recheck time.Duration
}

func (t Timing) settling() time.Duration {
	return cmp.Or(t.Settling, 10*time.Second)
}

func (t Timing) after(recheck time.Duration) time.Duration {
	return min(recheck, cmp.Or(t.Recheck, recheck))
}

// phase is the state of one form of the rule.
type phase int

const (
	// notWanted: the hub cannot have it, or the mode excludes it. It is removed.
	notWanted phase = iota
	// forbidden: addon-manager may not install it.
	forbidden
	// settling: this form, or one that precedes it, was installed a moment ago.
	settling
	// unproven: installed; no probe could show whether the API server acts on it.
	unproven
	// ignored: installed; the API server does not act on it.
	ignored
	// inForce: the API server acts on it.
	inForce
)

// status is the phase of one form, and why it is not in force.
type status struct {
	phase phase
	why   string
}

// final reports whether the other form may go: this one is in force, or cannot be had,
// or no probe can show more.
func (s status) final() bool {
	return s.phase == inForce || s.phase == notWanted || s.phase == unproven
}

// report is what was last reported.
type report struct {
	form            Form
	policy, webhook string
}

var errNotInForce = errors.New("the rule is not in force")

// report sets the metric and logs when the form in force changes. It returns
// when to probe again.
func (i *Installer) report(ctx context.Context, policy, webhook status) (time.Duration, error) {
	if i.Mode == ModeOff {
		return 0, nil
	}
	form, recheck := FormNone, recheckNone
	switch {
	case policy.phase == inForce:
		form, recheck = FormPolicy, recheckInForce
	case webhook.phase == inForce:
		form, recheck = FormWebhook, recheckInForce
	case policy.phase == settling || webhook.phase == settling:
		return i.Timing.after(recheckSettling), nil
	case policy.phase == unproven || webhook.phase == unproven:
		form = FormUnproven
	}
	if now := (report{form: form, policy: policy.why, webhook: webhook.why}); now != i.reported {
		if i.InForce != nil {
			if err := i.InForce(ctx, recheck == recheckInForce); err != nil {
				return 0, err
			}
		}
		i.reported = now
		i.Metrics.inForce(form)
		i.log(ctx, now)
	}
	return i.Timing.after(recheck), nil
}

func (i *Installer) log(ctx context.Context, now report) {
	logger := log.FromContext(ctx).WithValues("mode", i.Mode)
	switch {
	case now.form == FormUnproven:
		logger.Info(i.Rule.Title+" is installed; it is not known yet whether the hub acts on it", "policy", now.policy, "webhook", now.webhook)
	case now.form != FormNone:
		logger.Info(i.Rule.Title+" is in force", "form", now.form)
	case i.Mode == ModeAuto:
		logger.Info(i.Rule.Without+". "+
			"Deploy addon-manager webhook, or enable MutatingAdmissionPolicy", "policy", now.policy, "webhook", now.webhook)
	default:
		logger.Error(errNotInForce, i.Rule.Without, "policy", now.policy, "webhook", now.webhook)
	}
}
