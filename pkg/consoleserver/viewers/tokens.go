package viewers

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/util/cache"
)

// Audience is the audience of tokens that are for the console only. Tokens for the API server are accepted, too.
const Audience = "interlock-console"

const (
	// maxTokens is the number of tokens whose responses are kept.
	maxTokens = 1024
	// reviewTimeout is the timeout of a review of a token.
	reviewTimeout = 10 * time.Second
	// deniedLifetime is how long a denial counts, so that a new right, or a token that was accepted meanwhile, counts soon.
	deniedLifetime = 10 * time.Second
	// Any client can send tokens. At most so many a second are reviewed, and a few more at first.
	tokensPerSecond = 20
	tokensAtFirst   = 100
)

// errBusy is the error for a token that is not reviewed, because too many others are.
var errBusy = errors.New("too many tokens are reviewed")

// tokens authenticates tokens. It keeps responses by the hashes of the tokens, and no token.
type tokens struct {
	options   Options
	responses *cache.LRUExpireCache
	// known has the hashes of tokens that were accepted lately. They are reviewed however many others are, so that a client without a token
	// does not end the pages of viewers.
	known    *cache.LRUExpireCache
	requests singleflight.Group
	limiter  *rate.Limiter
}

func newTokens(options Options) *tokens {
	return &tokens{
		options: options, responses: cache.NewLRUExpireCacheWithClock(maxTokens, options.Clock),
		known:   cache.NewLRUExpireCacheWithClock(maxTokens, options.Clock),
		limiter: rate.NewLimiter(tokensPerSecond, tokensAtFirst),
	}
}

// authenticated is the response about a token.
type authenticated struct {
	user authenticationv1.UserInfo
	ok   bool
}

// user returns the user of a token. The bool is false if the API server does not accept the token.
func (t *tokens) user(ctx context.Context, token string) (authenticationv1.UserInfo, bool, error) {
	key := sha256.Sum256([]byte(token))
	if kept, ok := t.responses.Get(key); ok {
		response, _ := kept.(authenticated) // nothing else is stored
		return response.user, response.ok, nil
	}
	if _, isKnown := t.known.Get(key); !isKnown && !t.limiter.Allow() {
		return authenticationv1.UserInfo{}, false, errBusy
	}
	// The streams of a viewer connect again at the same time. They share the review, so it must not end with the first of them.
	shared, err, _ := t.requests.Do(string(key[:]), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reviewTimeout)
		defer cancel()
		user, ok, err := t.options.Reviewer.User(ctx, token)
		if err == nil && !ok {
			user, ok, err = t.options.Reviewer.User(ctx, token, Audience)
		}
		t.options.Metrics.count(reviewToken, ok, err)
		if err != nil {
			return nil, err
		}
		lifetime := t.options.Lifetime
		if ok {
			t.known.Add(key, nil, keptFor)
		} else {
			t.known.Remove(key)
			lifetime = min(lifetime, deniedLifetime)
		}
		t.responses.Add(key, authenticated{user, ok}, lifetime)
		return authenticated{user, ok}, nil
	})
	response, _ := shared.(authenticated)
	return response.user, response.ok, err
}
