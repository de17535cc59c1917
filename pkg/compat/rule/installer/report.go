package installer

import (
	"cmp"
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Intervals between probes: while the rule settles, while no form is in force, and in the
// steady state, which only a change of the API server ends. No watch shows whether the rule is
// in force.
const (
	recheckSettling = time.Second
	recheckNone     = time.Minute
	recheckInForce  = 5 * time.Minute
)

// Timing shortens waits for tests. Zero values mean the defaults.
type Timing struct {
	// Settling is the time that the API server may take to act on an installed
	// object, and on its CA. Default: 10 s.
	Settling time.Duration
	// Recheck is the longest time between two probes.
	Recheck time.Duration
}

func (t Timing) settling() time.Duration {
	return cmp.Or(t.Settling, 10*time.Second)
}

func (t Timing) limit(recheck time.Duration) time.Duration {
	return min(recheck, cmp.Or(t.Recheck, recheck))
}

// phase is the state of one form of the rule.
type phase int

const (
	// notWanted is a form that the hub cannot have, or that the mode excludes. It is removed.
	notWanted phase = iota
	// forbidden is a form that addon-manager has no permission to install.
	forbidden
	// settling is a form that was installed a moment ago, or waits for the other form to settle.
	settling
	// unproven is an installed form that could not be probed.
	unproven
	// ignored is an installed form that the API server does not act on.
	ignored
	// inForce is an installed form that the API server acts on.
	inForce
)

// status is the phase of a form.
type status struct {
	phase phase
	// reason explains why the form is not in force.
	reason string
}

// final reports whether the other form may be removed: this form is in force, or not wanted,
// or no probe can show more.
func (s status) final() bool {
	return s.phase == inForce || s.phase == notWanted || s.phase == unproven
}

// report is the content of the last report.
type report struct {
	form            Form
	policy, webhook string
}

var errNotInForce = errors.New("the rule is not in force")

// report sets the metric and logs when the form in force changes. It returns
// the time until the next probe.
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
		return i.Timing.limit(recheckSettling), nil
	case policy.phase == unproven || webhook.phase == unproven:
		form = FormUnproven
	}
	if current := (report{form: form, policy: policy.reason, webhook: webhook.reason}); current != i.reported {
		if i.InForce != nil {
			if err := i.InForce(ctx, recheck == recheckInForce); err != nil {
				return 0, err
			}
		}
		i.reported = current
		i.Metrics.inForce(form)
		i.log(ctx, current)
	}
	return i.Timing.limit(recheck), nil
}

func (i *Installer) log(ctx context.Context, current report) {
	logger := log.FromContext(ctx).WithValues("mode", i.Mode)
	switch {
	case current.form == FormUnproven:
		logger.Info(i.Rule.Title+" is installed; it is not known yet whether the hub acts on it",
			"policy", current.policy, "webhook", current.webhook)
	case current.form != FormNone:
		logger.Info(i.Rule.Title+" is in force", "form", current.form)
	case i.Mode == ModeAuto:
		logger.Info(i.Rule.Warning+". "+
			"Deploy addon-manager webhook, or enable MutatingAdmissionPolicy", "policy", current.policy, "webhook", current.webhook)
	default:
		logger.Error(errNotInForce, i.Rule.Warning, "policy", current.policy, "webhook", current.webhook)
	}
}
