public import Device
public import Encoding

/// How the world's clock stands.
public struct ClockView: Sendable {
    /// How it is set.
    public let setting: DeviceClock
    /// What it shows.
    public let now: Instant
    /// How many sleep on it: delays, and waiting for a browser.
    public let sleepers: Int
    /// How many a move has woken.
    public internal(set) var woken = 0
    /// How many calls were still under way when the move had ended.
    public internal(set) var underWay = 0
}

/// Moving clocks.
extension Engine {
    /// How long what a move woke is waited for, in milliseconds of the machine's clock.
    private static let wakingMilliseconds = 10_000

    /// How the world's clock stands.
    public var clockView: ClockView {
        ClockView(
            setting: world.movableClock?.setting ?? .real, now: world.clock.now(),
            sleepers: world.movableClock?.sleeperCount ?? 0)
    }

    /// Moves the world's clock; returns once whoever that woke has gone on as far as it goes.
    ///
    /// A standing clock stops at each moment somebody wants to be woken at, so that what happens then happens at that
    /// moment. Throws `.invalid` for a clock centuries away, or where the engine was given a clock it cannot move.
    @discardableResult
    public func moveClock(_ move: ClockMove) async throws(EngineError) -> ClockView {
        guard let clock = world.movableClock else {
            throw .invalid(field: "clock", rule: "this process has the machine's clock", value: "\(move)")
        }
        let before = clock.now()
        var woken = 0
        switch move {
        case .set(let setting): woken = clock.set(setting)
        case .freeze: clock.freeze()
        case .advance(let milliseconds): woken = try await advance(clock, by: milliseconds)
        }
        await calmDown(clock)
        note(before: before, after: clock.now(), setting: clock.setting, device: nil)
        var view = clockView
        view.woken = woken
        view.underWay = world.underWay.number
        return view
    }

    /// Sets the world's clock as a saved world had it: no move, and so nothing the journal tells.
    public func restoreClock(_ setting: DeviceClock) { world.movableClock?.set(setting) }

    /// Moves a device's own clock, which stands on the world's.
    @discardableResult
    public func moveClock(of device: DeviceID, _ move: ClockMove) async throws(EngineError) -> DeviceView {
        let wall = world.clock.now()
        let before = try await actor(device).now
        let view = try await updateDevice(device) { (device) throws(EngineError) in
            device.clock = try device.clock.moved(move, wall: wall)
        }
        note(before: before, after: view.now, setting: view.device.clock, device: device)
        return view
    }

    private func advance(_ clock: WorldClock, by milliseconds: Int64) async throws(EngineError) -> Int {
        var left = milliseconds
        var woken = 0
        while case .frozen = clock.setting, let next = clock.millisecondsToNextWaking, next < left {
            woken += try moving { () throws(DeviceTextError) in try clock.advance(milliseconds: next) }
            left -= next
            await calmDown(clock)
        }
        let span = left
        return woken + (try moving { () throws(DeviceTextError) in try clock.advance(milliseconds: span) })
    }

    /// Waits until nothing goes on but what sleeps on the clock.
    private func calmDown(_ clock: WorldClock) async {
        let end = ContinuousClock.now + .milliseconds(Self.wakingMilliseconds)
        while world.underWay.number > clock.heldWork, ContinuousClock.now < end {
            guard (try? await Task.sleep(for: .milliseconds(1))) != nil else { return }
        }
    }

    private func note(before: Instant, after: Instant, setting: DeviceClock, device: DeviceID?) {
        world.note(
            JournalEvent(
                kind: "clock",
                [
                    ("clock", .string(setting.text)), ("from", .int(before.milliseconds)),
                    ("to", .int(after.milliseconds)),
                    ("moved_milliseconds", .int(after.milliseconds - before.milliseconds)),
                ]), device: device)
    }
}

/// Moves a clock and names a refusal in the engine's terms.
private func moving<T>(_ work: () throws(DeviceTextError) -> T) throws(EngineError) -> T {
    do throws(DeviceTextError) {
        return try work()
    } catch {
        throw .invalid(field: "advance", rule: "\(error)", value: "that far")
    }
}

extension DeviceClock {
    fileprivate func moved(_ move: ClockMove, wall: Instant) throws(EngineError) -> DeviceClock {
        switch move {
        case .set(let setting): setting
        case .freeze: .frozen(at: now(wall: wall))
        case .advance(let milliseconds):
            try moving { () throws(DeviceTextError) in try advanced(byMilliseconds: milliseconds) }
        }
    }
}
