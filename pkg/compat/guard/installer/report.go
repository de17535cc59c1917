package installer

import (
	"cmp"
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

// How often the hub is asked whether the guard is in force, which cannot be
// watched: while it settles, while nothing guards, and in the steady state,
// where only a change of the API server can matter.
const (
	recheckSettling = time.Second
	recheckNone     = time.Minute
	recheckInForce  = 5 * time.Minute
)

// Timing shortens, for tests, what an API server is given. Zero values are the
// defaults.
type Timing struct {
	// Settling is how long it may take to act on what was installed: it takes
	// up policies within seconds, and a webhook with its CA. Default: 10 s.
	Settling time.Duration
	// Recheck is the longest time between two questions.
	Recheck time.Duration
}

func (t Timing) settling() time.Duration {
	return cmp.Or(t.Settling, 10*time.Second)
}

func (t Timing) after(recheck time.Duration) time.Duration {
	return min(recheck, cmp.Or(t.Recheck, recheck))
}

// standing is how one form of the guard stands at the API server.
type standing int

const (
	// unwanted: it cannot be had or is not asked for, and is removed.
	unwanted standing = iota
	// forbidden: we may not install it.
	forbidden
	// arriving: installed a moment ago, or another form is; all stays as it is.
	arriving
	// unproven: installed; whether the API server acts on it is not known.
	unproven
	// unheeded: installed; the API server does not act on it.
	unheeded
	// inForce: the API server acts on it.
	inForce
)

// finding is how one form stands, and why.
type finding struct {
	standing standing
	why      string
}

// report is what was told last.
type report struct {
	form            Form
	policy, webhook string
}

var errNothingGuards = errors.New("the guard is not in force")

// report tells of the form that is in force if that changed, and returns after
// how long to look again.
func (i *Installer) report(ctx context.Context, policy, webhook finding) time.Duration {
	if i.Mode == ModeOff {
		return 0
	}
	form, recheck := FormNone, recheckNone
	switch {
	case policy.standing == inForce:
		form, recheck = FormPolicy, recheckInForce
	case webhook.standing == inForce:
		form, recheck = FormWebhook, recheckInForce
	case policy.standing == arriving || webhook.standing == arriving:
		return i.Timing.after(recheckSettling)
	case policy.standing == unproven || webhook.standing == unproven:
		form = FormUnproven
	}
	if told := (report{form: form, policy: policy.why, webhook: webhook.why}); told != i.reported {
		i.reported = told
		i.Metrics.inForce(form)
		i.tell(ctx, told)
	}
	return i.Timing.after(recheck)
}

func (i *Installer) tell(ctx context.Context, told report) {
	logger := log.FromContext(ctx).WithValues("guard", i.Mode)
	switch {
	case told.form == FormUnproven:
		logger.Info("Guard is installed; whether the hub acts on it is not known yet", "policy", told.policy, "webhook", told.webhook)
	case told.form != FormNone:
		logger.Info("Guard is in force", "form", told.form)
	case i.Mode == ModeAuto:
		logger.Info("Nothing guards Available on this hub: beside a stock klusterlet it may read True for moments until addon-agent corrects it. "+
			"Deploy addon-manager webhook, or enable MutatingAdmissionPolicy", "policy", told.policy, "webhook", told.webhook)
	default:
		logger.Error(errNothingGuards, "Nothing guards Available on this hub", "policy", told.policy, "webhook", told.webhook)
	}
}
