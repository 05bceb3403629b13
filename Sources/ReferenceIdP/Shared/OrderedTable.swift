/// A dictionary that can be listed page by page in order of insertion.
///
/// Keys are linked to their neighbours, so adding, removing and continuing a listing cost the same
/// whether there are ten entries or ten million.
struct OrderedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var value: Value
        var previous: Key?
        var next: Key?
    }

    private var entries: [Key: Entry] = [:]
    private var first: Key?
    private var last: Key?

    /// How many entries there are.
    var count: Int { entries.count }

    /// The value of a key.
    ///
    /// Reading and changing in place; setting a new key adds it at the end, setting nil removes it.
    subscript(key: Key) -> Value? {
        get { entries[key]?.value }
        set {
            switch (entries[key] != nil, newValue) {
            case (true, let value?): entries[key]?.value = value
            case (true, nil): remove(key)
            case (false, let value?): append(key, value)
            case (false, nil): break
            }
        }
    }

    /// Looks at a value without copying it; nil where there is no such key.
    func peek<Result>(_ key: Key, _ look: (Value) -> Result?) -> Result? {
        entries[key].flatMap { look($0.value) }
    }

    /// Changes a value in place and returns what the change returns; nil where there is no such key.
    @discardableResult
    mutating func update<Result, Failure: Error>(
        _ key: Key, _ change: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard let index = entries.index(forKey: key) else { return nil }
        return try change(&entries.values[index].value)
    }

    /// Up to `limit` entries behind a key, or from the start where it is nil or gone.
    func page(after key: Key?, limit: Int) -> [(key: Key, value: Value)] {
        var next = key.flatMap { entries[$0] }.map(\.next) ?? first
        var page: [(key: Key, value: Value)] = []
        while page.count < limit, let key = next, let entry = entries[key] {
            page.append((key, entry.value))
            next = entry.next
        }
        return page
    }

    /// Every key, in order.
    ///
    /// Costs as much as there are.
    var keys: [Key] { page(after: nil, limit: .max).map(\.key) }

    private mutating func append(_ key: Key, _ value: Value) {
        entries[key] = Entry(value: value, previous: last, next: nil)
        if let last { entries[last]?.next = key } else { first = key }
        last = key
    }

    private mutating func remove(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        if let previous = entry.previous { entries[previous]?.next = entry.next } else { first = entry.next }
        if let next = entry.next { entries[next]?.previous = entry.previous } else { last = entry.previous }
    }
}
