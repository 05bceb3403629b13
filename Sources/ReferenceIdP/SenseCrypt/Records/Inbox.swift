/// The mails of a tenant, newest last; the oldest makes room.
struct Inbox: Sendable {
    let capacity: Int
    private var mails: [Mail] = []
    private var head = 0

    init(capacity: Int) { self.capacity = max(1, capacity) }

    var count: Int { mails.count }

    mutating func deliver(_ mail: Mail) {
        if mails.count < capacity {
            mails.append(mail)
        } else {
            mails[head] = mail
            head = (head + 1) % capacity
        }
    }

    /// The mails in order, those to one address (as ``AddressKey``) where one is given.
    func mails(to address: String?) -> [Mail] {
        let ordered = mails[head...] + mails[..<head]
        return ordered.filter { address == nil || AddressKey.of($0.address) == address }
    }
}

/// How addresses are compared: ASCII letters without their case.
enum AddressKey {
    static func of(_ address: String) -> String { address.lowercased() }
}
