import Crypto
import Device
import Synchronization

/// Where the phone stands when it asks whether something is to go wrong.
struct FaultMoment: Sendable {
    var system = "sensecrypt"
    let point: FaultPoint
    var attempt = 1
    let device: DeviceID
    let install: String
}

extension PlannedFault.Place {
    fileprivate func fits(_ moment: FaultMoment) -> Bool {
        (system == nil || system == moment.system) && (point == nil || point == moment.point)
            && (attempt == nil || attempt == moment.attempt) && (device == nil || device == moment.device.rawValue)
            && (install == nil || install == moment.install)
    }
}

/// Faults that are still ahead, in the order they were planned.
struct FaultPlan: Sendable, Hashable, Codable {
    private(set) var faults: [PlannedFault]

    init(_ faults: [PlannedFault] = []) { self.faults = faults }

    /// How often faults are still planned for; one of chance counts once.
    var count: Int { faults.reduce(0) { $0 + ($1.times ?? 1) } }

    /// Takes the first fault that is to happen at this moment, if there is one; a counted one is used up by that.
    ///
    /// `dice` is asked for a number from 0 up to, and without, 1.
    mutating func take(at moment: FaultMoment, dice: () -> Double) -> PlannedFault? {
        for index in faults.indices where faults[index].place.fits(moment) {
            // A fault about everything skips the places where it cannot be.
            guard faults[index].kind.objection(at: moment.point) == nil else { continue }
            if let probability = faults[index].probability {
                // 0 is never and 1 is always, whatever the dice say.
                guard probability >= 1 || (probability > 0 && dice() < probability) else { continue }
            }
            faults[index].fired += 1
            let fault = faults[index]
            if let left = fault.times { faults[index].times = left - 1 }
            if faults[index].times == 0 { faults.remove(at: index) }
            return fault
        }
        return nil
    }

    mutating func add(_ fault: PlannedFault) {
        if let index = faults.firstIndex(where: { $0.id == fault.id }) {
            faults[index] = fault
        } else {
            faults.append(fault)
        }
    }

    mutating func remove(_ id: String) -> PlannedFault? {
        faults.firstIndex { $0.id == id }.map { faults.remove(at: $0) }
    }
}

/// The faults of the whole world, armed from outside while flows run; they live as long as the process.
final class FaultBook: Sendable {
    /// More faults than this are refused.
    static let most = 1000

    private struct State {
        var plan = FaultPlan()
        /// Those that are used up, the last of them: what was armed should still be found.
        var spent: [PlannedFault] = []
        var lastNumber = 0
    }

    private let state = Mutex(State())
    private let dice: Entropy

    init(dice: Entropy) { self.dice = dice }

    /// A number from 0 up to, and without, 1.
    func roll() -> Double {
        let bytes = dice.bytes(4)
        return Double(bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }) / 4_294_967_296
    }

    /// A name for a fault whose author gave none.
    func nextName() -> String {
        state.withLock { state in
            state.lastNumber += 1
            return "fault-\(state.lastNumber)"
        }
    }

    /// Arms faults; one of a name that is known takes the other's place.
    func arm(_ faults: [PlannedFault]) throws(EngineError) {
        let isTooMany = state.withLock { state in
            let known = Set(state.plan.faults.map(\.id))
            guard known.union(faults.map(\.id)).count <= Self.most else { return true }
            for fault in faults { state.plan.add(fault) }
            return false
        }
        if isTooMany { throw .invalid(field: "faults", rule: "at most \(Self.most) faults", value: "more") }
    }

    /// Takes the first fault that is to happen at this moment.
    func take(at moment: FaultMoment) -> PlannedFault? {
        state.withLock { state in
            guard !state.plan.faults.isEmpty, let fault = state.plan.take(at: moment, dice: roll) else { return nil }
            if !state.plan.faults.contains(where: { $0.id == fault.id }) {
                var spent = fault
                spent.times = 0
                state.spent = state.spent.suffix(Self.most / 10 - 1) + [spent]
            }
            return fault
        }
    }

    /// The armed faults, and the last of those that are used up.
    var all: (armed: [PlannedFault], spent: [PlannedFault]) {
        state.withLock { ($0.plan.faults, $0.spent) }
    }

    /// Disarms one fault; false where there is none of the name.
    func disarm(_ id: String) -> Bool { state.withLock { $0.plan.remove(id) != nil } }

    /// Disarms all faults and forgets those that are used up; returns how many were armed.
    @discardableResult
    func clear() -> Int {
        state.withLock { state in
            defer { state = State(lastNumber: state.lastNumber) }
            return state.plan.faults.count
        }
    }
}
