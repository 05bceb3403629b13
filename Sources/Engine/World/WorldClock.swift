public import Device
public import Encoding
import Synchronization

/// The wall clock of a world: the machine's, the machine's moved, or one that stands still until it is moved.
///
/// Whoever sleeps on it wakes when so much time has passed, whether it passed by itself or somebody moved the clock
/// forward. A clock moved back lengthens no sleep: sleeps are measured in ``elapsed``, which never goes back.
public final class WorldClock: WallClock {
    fileprivate struct Sleeper {
        let deadline: Duration
        /// Called when it wakes by time; nil where an exchange that is counted already waits for it.
        let onWaking: (@Sendable () -> Void)?
        let continuation: CheckedContinuation<Bool, Never>
        /// Wakes it when the time passes by itself; nil while the clock stands.
        var alarm: Task<Void, Never>?
    }

    fileprivate struct State {
        var setting: DeviceClock
        /// Elapsed until the clock last began to run, or until now where it stands.
        var elapsedBefore = Duration.zero
        /// When it began to run; nil while it stands.
        var runningSince: Duration?
        var sleepers: [UInt64: Sleeper] = [:]
        var lastSleeper: UInt64 = 0
    }

    private let machine = SystemClock()
    private let state: Mutex<State>

    /// Makes a clock with a setting: `real`, moved by some seconds, or standing at an instant.
    public init(_ setting: DeviceClock = .real) {
        let machine = machine
        state = Mutex(State(setting: setting, runningSince: setting.isStanding ? nil : machine.elapsed))
    }

    /// Makes a clock that stands at an instant.
    public convenience init(at instant: Instant) { self.init(.frozen(at: instant)) }

    /// The present instant.
    public func now() -> Instant { state.withLock { $0.setting.now(wall: machine.now()) } }

    /// How it is set: `real`, moved by some seconds, or standing at an instant.
    public var setting: DeviceClock { state.withLock { $0.setting } }

    /// How many sleep on it.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// How many sleep on it with an exchange under way.
    var heldWork: Int { state.withLock { $0.sleepers.values.count { $0.onWaking == nil } } }

    /// Time that only ever moves forward: what passed by itself, and what somebody moved the clock forward by.
    public var elapsed: Duration { state.withLock { $0.elapsed(machine.elapsed) } }

    /// Milliseconds until the next sleeper wakes; nil where nobody sleeps.
    public var millisecondsToNextWaking: Int64? {
        state.withLock { state in
            let next = state.sleepers.values.map(\.deadline).min()
            return next.map { max(0, ($0 - state.elapsed(machine.elapsed)).wholeMilliseconds) }
        }
    }
}

/// Moving the clock.
extension WorldClock {
    /// Moves the clock, back for a negative number, and wakes whom that wakes; returns how many.
    ///
    /// A standing clock stays standing. Throws `clockOutOfRange` for a clock centuries away, and for a part of a second
    /// on a clock that runs.
    @discardableResult
    public func advance(milliseconds: Int64) throws(DeviceTextError) -> Int {
        let result = state.withLock { state in
            Result { () throws(DeviceTextError) in
                state.setting = try state.setting.advanced(byMilliseconds: milliseconds)
                return passed(milliseconds, &state)
            }
        }
        return wake(try result.get())
    }

    /// Moves the clock by whole seconds, back for a negative number; a clock that cannot go there stays where it is.
    @discardableResult
    public func advance(seconds: Int64) -> Int { (try? advance(milliseconds: seconds * 1000)) ?? 0 }

    /// Sets the clock, and wakes whom that wakes; returns how many.
    @discardableResult
    public func set(_ setting: DeviceClock) -> Int {
        wake(
            state.withLock { state in
                let wall = machine.now()
                let step = setting.now(wall: wall).milliseconds - state.setting.now(wall: wall).milliseconds
                let moment = machine.elapsed
                state.setting = setting
                state.elapsedBefore = state.elapsed(moment)
                state.runningSince = setting.isStanding ? nil : moment
                let woken = passed(step, &state)
                rearm(&state)
                return woken
            })
    }

    /// Stops the clock where it is.
    public func freeze() { set(.frozen(at: now())) }

    /// So much time has passed at once; the sleepers whose time has come are taken out.
    private func passed(_ milliseconds: Int64, _ state: inout State) -> [Sleeper] {
        if milliseconds > 0 { state.elapsedBefore += .milliseconds(milliseconds) }
        return due(&state)
    }

    private func due(_ state: inout State) -> [Sleeper] {
        let elapsed = state.elapsed(machine.elapsed)
        let due = state.sleepers.filter { $0.value.deadline <= elapsed }
        for key in due.keys { state.sleepers[key] = nil }
        // In the order they wanted to be woken, and those of one moment in the order they fell asleep.
        return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value)
    }

    private func wake(_ sleepers: [Sleeper]) -> Int {
        for sleeper in sleepers {
            sleeper.alarm?.cancel()
            sleeper.onWaking?()
            sleeper.continuation.resume(returning: true)
        }
        return sleepers.count
    }
}

/// Sleeping.
extension WorldClock {
    /// Returns once so much time has passed on this clock.
    ///
    /// Throws where the task is cancelled before.
    public func sleep(milliseconds: Int64) async throws(CancellationError) {
        try await sleep(milliseconds: milliseconds, onWaking: nil)
    }

    /// The same, for somebody with no exchange under way: `onWaking` is called before a waking by time is seen by anybody.
    func sleep(
        milliseconds: Int64, onWaking: (@Sendable () -> Void)?
    ) async throws(CancellationError) {
        guard milliseconds > 0 else { return }
        let number = state.withLock { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        let isWoken = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                fallAsleep(number, milliseconds, onWaking, continuation)
                // The handler may have run before there was anybody to wake.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
        guard isWoken else { throw CancellationError() }
    }

    private func fallAsleep(
        _ number: UInt64, _ milliseconds: Int64, _ onWaking: (@Sendable () -> Void)?,
        _ continuation: CheckedContinuation<Bool, Never>
    ) {
        state.withLock { state in
            let deadline = state.elapsed(machine.elapsed) + .milliseconds(milliseconds)
            state.sleepers[number] = Sleeper(
                deadline: deadline, onWaking: onWaking, continuation: continuation)
            arm(number, &state)
        }
    }

    private func cancel(_ number: UInt64) {
        let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
        sleeper?.alarm?.cancel()
        sleeper?.continuation.resume(returning: false)
    }

    private func rearm(_ state: inout State) {
        for number in state.sleepers.keys {
            state.sleepers[number]?.alarm?.cancel()
            arm(number, &state)
        }
    }

    private func arm(_ number: UInt64, _ state: inout State) {
        guard state.runningSince != nil, let sleeper = state.sleepers[number] else { return }
        let remaining = sleeper.deadline - state.elapsed(machine.elapsed)
        state.sleepers[number]?.alarm = Task { [weak self] in
            guard (try? await Task.sleep(for: remaining)) != nil, let self else { return }
            _ = self.wake(self.state.withLock { self.due(&$0) })
        }
    }
}

extension WorldClock.State {
    fileprivate func elapsed(_ machine: Duration) -> Duration {
        elapsedBefore + (runningSince.map { machine - $0 } ?? .zero)
    }
}

extension DeviceClock {
    /// Whether it stands still.
    fileprivate var isStanding: Bool { if case .frozen = self { true } else { false } }

    /// The clock moved by milliseconds; only a standing one can be moved by a part of a second.
    func advanced(byMilliseconds milliseconds: Int64) throws(DeviceTextError) -> DeviceClock {
        if case .frozen(let instant) = self, milliseconds % 1000 != 0 {
            let part = DeviceClock.frozen(at: instant.adding(milliseconds: milliseconds % 1000))
            return try part.advanced(bySeconds: milliseconds / 1000)
        }
        guard milliseconds % 1000 == 0 else { throw .clockOutOfRange("\(milliseconds)ms on a clock that runs") }
        return try advanced(bySeconds: milliseconds / 1000)
    }
}

extension Duration {
    /// Milliseconds, rounded up, so that who waits so long has waited long enough.
    fileprivate var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
