import CLinux
import Glibc

/// What the kernel reported about one descriptor.
struct Readiness: OptionSet {
    let rawValue: UInt32

    static let readable = Readiness(rawValue: 0x001)
    static let writable = Readiness(rawValue: 0x004)
    static let failed = Readiness(rawValue: 0x008)
    static let hungUp = Readiness(rawValue: 0x010)
    static let peerFinished = Readiness(rawValue: 0x2000)
}

/// Someone who owns a descriptor registered with a loop.
protocol ReadinessHandler: AnyObject {
    /// The descriptor changed state. Called on the loop's thread.
    func ready(_ readiness: Readiness)

    /// The loop is going away: close the descriptor and let go of everything. Called on the loop's thread.
    func loopStopped()
}

/// One epoll instance and the eventfd that interrupts its wait.
///
/// Descriptors are registered once, edge-triggered, for everything. Level-triggered would need an `epoll_ctl`
/// each time a connection stops or starts wanting to read or write, which happens on every request; with edges
/// the owner remembers "readable" and "writable" itself and a keep-alive request costs no `epoll_ctl` at all.
/// The price is that the owner must go on until the kernel says "would block" (or reads short).
final class Poller {
    private static let edgeTriggered: UInt32 = 1 << 31
    private static let wakeMark = UInt64.max

    private struct Registration {
        let handler: any ReadinessHandler
        let generation: UInt32
    }

    private let epoll: Int32
    private let wakeup: Int32
    private var registrations: [Registration?] = []
    private var generation: UInt32 = 0
    private let events: UnsafeMutableBufferPointer<epoll_event>

    init() {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeup = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        precondition(epoll >= 0 && wakeup >= 0, "no descriptors left for an event loop: errno \(errno)")
        events = .allocate(capacity: 256)
        events.initialize(repeating: epoll_event())
        add(wakeup, mark: Self.wakeMark, interest: Readiness.readable.rawValue)
    }

    deinit {
        close(epoll)
        close(wakeup)
        events.deallocate()
    }

    /// Watches a descriptor until it is removed.
    ///
    /// A kernel refusal (out of memory, too many watches) is reported as false.
    func register(_ descriptor: Int32, _ handler: any ReadinessHandler) -> Bool {
        let index = Int(descriptor)
        while registrations.count <= index { registrations.append(nil) }
        precondition(registrations[index] == nil, "descriptor \(descriptor) is registered already")
        generation &+= 1
        registrations[index] = Registration(handler: handler, generation: generation)
        let interest: Readiness = [.readable, .writable, .peerFinished]
        let mark = UInt64(generation) << 32 | UInt64(UInt32(bitPattern: descriptor))
        guard add(descriptor, mark: mark, interest: interest.rawValue) else {
            registrations[index] = nil
            return false
        }
        return true
    }

    /// Forgets a descriptor.
    ///
    /// Call before closing it; events of it already fetched are dropped.
    func remove(_ descriptor: Int32) {
        registrations[Int(descriptor)] = nil
        epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil)
    }

    /// Every handler registered now.
    var handlers: [any ReadinessHandler] { registrations.compactMap { $0?.handler } }

    /// Interrupts the wait; the one call of this type that may come from any thread.
    ///
    /// The eventfd is watched edge-triggered and its counter is never read back: each write is a new edge.
    func wake() {
        var one: UInt64 = 1
        _ = write(wakeup, &one, 8)
    }

    /// Waits for events and hands them out.
    ///
    /// - Parameter timeout: the longest wait in milliseconds; nil waits for ever, 0 only looks.
    func poll(timeout: Int32?, onReturn: () -> Void) {
        let count = epoll_wait(epoll, events.baseAddress, Int32(events.count), timeout ?? -1)
        onReturn()
        guard count > 0 else { return }
        for index in 0..<Int(count) {
            let event = events[index]
            guard event.data.u64 != Self.wakeMark else { continue }
            let descriptor = Int(UInt32(truncatingIfNeeded: event.data.u64))
            let generation = UInt32(event.data.u64 >> 32)
            guard let registration = registrations[descriptor], registration.generation == generation else { continue }
            registration.handler.ready(Readiness(rawValue: event.events))
        }
    }

    @discardableResult
    private func add(_ descriptor: Int32, mark: UInt64, interest: UInt32) -> Bool {
        var event = epoll_event()
        event.events = interest | Self.edgeTriggered
        event.data.u64 = mark
        return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0
    }
}
