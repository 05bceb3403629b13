import CLinux
import Glibc

/// The system's socket calls, each with its flags chosen once and `EINTR` dealt with.
enum Sockets {
    /// The outcome of one read or write that may not block.
    enum Transfer {
        case bytes(Int)
        case wouldBlock
        case failed(Int32)
    }

    /// A new stream socket: non-blocking, closed on exec, without Nagle's delay.
    ///
    /// - Returns: nil when the system refuses; `errno` says why.
    static func stream(family: Int32) -> Int32? {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY)
        return descriptor
    }

    /// Begins to connect.
    ///
    /// - Returns: 0 when connected at once, `EINPROGRESS`, or the error.
    static func connect(_ descriptor: Int32, to address: SocketAddress) -> Int32 {
        while true {
            if address.withPointer({ Glibc.connect(descriptor, $0, $1) }) == 0 { return 0 }
            if errno != EINTR { return errno }
        }
    }

    /// Binds the local end; returns 0 or the error.
    static func bind(_ descriptor: Int32, to address: SocketAddress) -> Int32 {
        address.withPointer { Glibc.bind(descriptor, $0, $1) } == 0 ? 0 : errno
    }

    /// The error of a connect that has finished, 0 for success.
    static func pendingError(_ descriptor: Int32) -> Int32 {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &value, &size) == 0 else { return errno }
        return value
    }

    /// A connection that waits in a listener's queue.
    ///
    /// - Returns: the descriptor, or a negative `errno`.
    static func accept(_ listener: Int32) -> Int32 {
        while true {
            let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            let descriptor = understudy_accept(listener, flags)
            if descriptor >= 0 {
                set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY)
                return descriptor
            }
            if errno != EINTR { return -errno }
        }
    }

    /// Reads what is there.
    static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        transfer { recv(descriptor, buffer.baseAddress, buffer.count, 0) }
    }

    /// Writes what fits; a peer that is gone is an error and never a signal.
    static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Transfer {
        transfer { Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
    }

    /// Looks whether an idle connection is still open and silent.
    static func isOpenAndSilent(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)
    }

    /// Switches a boolean socket option on.
    static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32) {
        var on: Int32 = 1
        setsockopt(descriptor, level, option, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Has a close discard what is unsent and send a reset (SO_LINGER of zero seconds).
    static func resetOnClose(_ descriptor: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// The local address of a socket.
    static func localAddress(_ descriptor: Int32) -> SocketAddress? {
        SocketAddress { getsockname(descriptor, $0, $1) }
    }

    /// The peer's address of a connected socket.
    static func peerAddress(_ descriptor: Int32) -> SocketAddress? {
        SocketAddress { getpeername(descriptor, $0, $1) }
    }

    /// The system's words for an error number.
    static func reason(_ error: Int32) -> String {
        guard let text = strerror(error) else { return "error \(error)" }
        return String(cString: text).lowercased()
    }

    private static func transfer(_ call: () -> Int) -> Transfer {
        while true {
            let count = call()
            if count >= 0 { return .bytes(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .wouldBlock
            default: return .failed(errno)
            }
        }
    }
}
