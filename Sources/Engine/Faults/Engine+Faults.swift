public import Encoding

/// Faults of the whole world: armed and disarmed while flows run.
extension Engine {
    /// Reads and arms faults; the answer is the faults as they were armed.
    ///
    /// Throws `.invalid` naming what is wrong with one of them; then none is armed.
    public func armFaults(_ documents: [JSON]) throws(EngineError) -> [PlannedFault] {
        var faults: [PlannedFault] = []
        for document in documents {
            let name = world.faults.nextName()
            var fault = try PlannedFault(document, named: name)
            // A short text says nothing of a name, and two of the same text are two faults.
            if document.string != nil { fault.id = name }
            faults.append(fault)
        }
        try world.faults.arm(faults)
        return faults
    }

    /// The faults that are armed, and the last of those that are used up.
    public var faults: (armed: [PlannedFault], spent: [PlannedFault]) { world.faults.all }

    /// Disarms a fault; false where none of the name is armed.
    public func disarmFault(_ id: String) -> Bool { world.faults.disarm(id) }

    /// Disarms every fault and returns how many there were.
    @discardableResult
    public func clearFaults() -> Int { world.faults.clear() }
}
