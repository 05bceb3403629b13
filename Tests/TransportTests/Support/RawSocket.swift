import Glibc

@testable import Transport

/// A blocking socket for scripts that speak to our code byte by byte; every call gives up after thirty seconds.
struct RawSocket: Sendable {
    let descriptor: Int32

    struct Failure: Error {
        let call: String
        let error: Int32
    }

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        Sockets.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY)
    }

    /// Connects to a port of 127.0.0.1.
    static func connected(to port: Int) throws -> RawSocket {
        let socket = RawSocket(Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        guard let address = SocketAddress(literal: "127.0.0.1", port: port) else {
            throw Failure(call: "address", error: 0)
        }
        let error = Sockets.connect(socket.descriptor, to: address)
        guard error == 0 else { throw Failure(call: "connect", error: error) }
        return socket
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(call: "send", error: errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// What is there, at least one byte; empty at the end.
    func receive() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw Failure(call: "recv", error: errno) }
        return Array(buffer[..<count])
    }

    /// Reads until the text read so far ends with a mark.
    func read(until mark: String) throws -> String {
        var all: [UInt8] = []
        let mark = Array(mark.utf8)
        while all.suffix(mark.count) != mark[...] {
            let piece = try receive()
            guard !piece.isEmpty else {
                throw Failure(call: "end after \(String(decoding: all, as: UTF8.self))", error: 0)
            }
            all += piece
        }
        return String(decoding: all, as: UTF8.self)
    }

    /// Reads a request or response head, up to the empty line.
    func readHead() throws -> String { try read(until: "\r\n\r\n") }

    /// Reads until the peer closes.
    func readToEnd() throws -> String {
        var all: [UInt8] = []
        while true {
            let piece = try receive()
            if piece.isEmpty { return String(decoding: all, as: UTF8.self) }
            all += piece
        }
    }

    func finishWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    func close() { Glibc.close(descriptor) }

    /// Closes with a reset instead of an orderly end.
    func reset() {
        var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        close()
    }
}

/// Runs something that blocks on a thread of its own, so that it takes none of the tests' few threads.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
        Threads.start(name: "test-script") { continuation.resume(returning: Result { try body() }) }
    }
    return try result.get()
}
