import Glibc

/// An IP address and port as the system's calls take it.
struct SocketAddress {
    private(set) var storage = sockaddr_storage()
    private(set) var length: socklen_t = 0

    /// An address from a literal, IPv6 without brackets.
    ///
    /// - Returns: nil when the text is no IP address.
    init?(literal: String, port: Int) {
        guard let port = UInt16(exactly: port) else { return nil }
        var four = sockaddr_in()
        if inet_pton(AF_INET, literal, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            withUnsafeBytes(of: four) { copy($0) }
            return
        }
        var six = sockaddr_in6()
        guard inet_pton(AF_INET6, literal, &six.sin6_addr) == 1 else { return nil }
        six.sin6_family = sa_family_t(AF_INET6)
        six.sin6_port = port.bigEndian
        withUnsafeBytes(of: six) { copy($0) }
    }

    /// An address as the system returned it.
    init(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
        copy(UnsafeRawBufferPointer(start: address, count: Int(length)))
    }

    /// Fills an address by a call like `getsockname`; nil when the call fails.
    init?(filling call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) {
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &size) }
        }
        guard status == 0 else { return nil }
        length = size
    }

    /// The address family (`AF_INET`, `AF_INET6`).
    var family: Int32 { Int32(storage.ss_family) }

    /// The port, 0...65535.
    var port: Int {
        // The port is at the same place in both families.
        withUnsafeBytes(of: storage) { Int($0[2]) << 8 | Int($0[3]) }
    }

    /// The address as text without port; an IPv4 address mapped into IPv6 is shown as IPv4.
    var host: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        withUnsafeBytes(of: storage) { bytes in
            guard let base = bytes.baseAddress else { return }
            let offset = family == AF_INET ? 4 : 8
            inet_ntop(family, base + offset, &text, socklen_t(text.count))
        }
        let whole = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let mapped = "::ffff:"
        return whole.hasPrefix(mapped) && whole.contains(".") ? String(whole.dropFirst(mapped.count)) : whole
    }

    /// True for 127.0.0.0/8 and ::1.
    var isLoopback: Bool { host.hasPrefix("127.") || host == "::1" }

    /// The address alone, 4 or 16 bytes in network order.
    var ipBytes: [UInt8] {
        withUnsafeBytes(of: storage) { family == AF_INET ? Array($0[4..<8]) : Array($0[8..<24]) }
    }

    /// The address with another port.
    func with(port: Int) -> SocketAddress {
        var copy = self
        withUnsafeMutableBytes(of: &copy.storage) { bytes in
            bytes[2] = UInt8(truncatingIfNeeded: port >> 8)
            bytes[3] = UInt8(truncatingIfNeeded: port)
        }
        return copy
    }

    /// Lends the address to a system call.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    private mutating func copy(_ bytes: UnsafeRawBufferPointer) {
        let count = min(bytes.count, MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
        length = socklen_t(count)
    }
}

// A plain value of bytes; the system's structures in it hold no pointers.
extension SocketAddress: @unchecked Sendable {}
