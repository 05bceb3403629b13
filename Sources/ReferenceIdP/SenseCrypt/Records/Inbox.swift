/// The mails of a tenant, newest last; the oldest makes room.
struct Inbox: Sendable {
    let capacity: Int
    /// In order of their numbers, but for ``head``: the place of the oldest once the inbox is full.
    private var mails: [(number: Int64, mail: Mail)] = []
    private var head = 0
    private var nextNumber: Int64 = 1

    init(capacity: Int) { self.capacity = max(1, capacity) }

    var count: Int { mails.count }

    /// Puts a mail in, and says its number and that of the mail that made room.
    mutating func deliver(_ mail: Mail) -> (number: Int64, forgotten: Int64?) {
        let number = nextNumber
        nextNumber += 1
        guard mails.count == capacity else {
            mails.append((number, mail))
            return (number, nil)
        }
        let forgotten = mails[head].number
        mails[head] = (number, mail)
        head = (head + 1) % capacity
        return (number, forgotten)
    }

    /// Takes a stored mail back, in whatever order they come; only while the inbox is filled for the first time.
    mutating func restore(_ mail: Mail, number: Int64) {
        nextNumber = max(nextNumber, number + 1)
        let place = mails.lastIndex { $0.number < number }.map { $0 + 1 } ?? 0
        mails.insert((number, mail), at: place)
        if mails.count > capacity { mails.removeFirst() }
    }

    /// Every mail with its number, oldest first.
    var numbered: [(number: Int64, mail: Mail)] { Array(mails[head...] + mails[..<head]) }

    /// The mails in order, those to one address (as ``AddressKey``) where one is given.
    func mails(to address: String?) -> [Mail] {
        numbered.map(\.mail).filter { address == nil || AddressKey.of($0.address) == address }
    }
}

/// How addresses are compared: ASCII letters without their case.
enum AddressKey {
    static func of(_ address: String) -> String { address.lowercased() }
}
