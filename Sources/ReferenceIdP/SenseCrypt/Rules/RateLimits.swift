import Encoding
import Profiles

/// How often something was let through since its window opened.
///
/// Windows are fixed, and each opens with the first thing it counts: "thirty within an hour lock that address out for the
/// rest of the hour" needs an hour with a beginning and an end, and one that begins with the wall clock's hour would let
/// sixty through within two minutes.
struct RateWindow: Expiring, Hashable {
    let opened: Instant
    let seconds: Int64
    var count = 0

    var forgottenAt: Instant { opened.adding(seconds: seconds) }

    /// Whether the window says nothing about `now`: it is over, or the server's clock was set back behind it.
    func isOver(at now: Instant) -> Bool { now < opened || now >= forgottenAt }

    /// Whole seconds until the window is over, rounded up.
    func secondsLeft(at now: Instant) -> Int64 {
        max(1, (forgottenAt.milliseconds - now.milliseconds + 999) / 1000)
    }
}

extension SenseCryptProfile.RateLimit {
    /// The window of now: the one given, or a new one where that is over.
    func window(_ window: RateWindow?, at now: Instant) -> RateWindow {
        if let window, !window.isOver(at: now) { return window }
        return RateWindow(opened: now, seconds: seconds)
    }
}

extension Realm {
    /// Counts a start that passed every other check, or refuses it; what is refused is not counted.
    ///
    /// The address first: a locked address must not use up what the tenant's others share. An address counts the same
    /// whoever it names. Without a hint there is no address, and the tenant's limit alone holds.
    mutating func countStart(of application: Application, hint: String?, _ turn: Turn) throws(Refusal) {
        guard tenant.policy.rateLimits == .described else { return }
        let limits = turn.profile.rateLimits
        let key = hint.map { storedHash(application.clientID + "\n" + AddressKey.of($0)) }
        let ofAddress = limits.address.window(key.flatMap { startsByAddress[$0] }, at: turn.now)
        if !skips(.startAddressLimit) {
            try limits.address.allows(ofAddress, "start.address_limit", "starts of an address", turn)
        }
        let ofTenant = limits.tenant.window(starts, at: turn.now)
        try limits.tenant.allows(ofTenant, "start.tenant_limit", "starts of the tenant", turn)
        starts = ofTenant.counted
        if let key { startsByAddress.insert(ofAddress.counted, for: key, now: turn.now) }
    }
}

extension SenseCryptIdP {
    /// Counts a request by its peer's address, whatever it asks for; junk locks out nobody but its sender.
    mutating func countRequest(_ intake: Intake, _ turn: Turn) throws(Refusal) {
        guard let address = intake.callerAddress, let tenant = intake.tenant,
            realms.peek(tenant, { $0.tenant.policy.rateLimits }) == .described
        else { return }
        let limit = turn.profile.rateLimits.caller
        let window = limit.window(callers[address], at: turn.now)
        try limit.allows(window, "request.caller_limit", "requests of a peer", turn)
        callers.insert(window.counted, for: address, now: turn.now)
    }
}

extension RateWindow {
    /// The window with one more in it.
    fileprivate var counted: RateWindow {
        var window = self
        window.count += 1
        return window
    }
}

extension SenseCryptProfile.RateLimit {
    fileprivate func allows(_ window: RateWindow, _ rule: String, _ what: String, _ turn: Turn) throws(Refusal) {
        guard window.count >= count else { return }
        let left = window.secondsLeft(at: turn.now)
        var refusal = Refusal(
            turn.errors.rateLimited, rule: rule, expected: "at most \(count) \(what) in \(seconds) s",
            actual: "one more, \(left) s before the window is over", detail: "try again in \(left) seconds")
        refusal.fields = [("Retry-After", String(left))]
        throw refusal
    }
}
