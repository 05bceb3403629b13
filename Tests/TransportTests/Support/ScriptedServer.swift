import Glibc
import Synchronization

@testable import Transport

/// A listener that plays one script per connection, in order of arrival, each on a thread of its own.
final class ScriptedServer: Sendable {
    typealias Script = @Sendable (RawSocket) throws -> Void

    let port: Int
    private let descriptor: Int32
    private let count = Mutex(0)

    /// How many connections have been accepted.
    var accepted: Int { count.withLock { $0 } }

    /// Plays the scripts in turn, the last one for every further connection.
    init(_ scripts: Script...) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let any = SocketAddress(literal: "127.0.0.1", port: 0)
        guard let any, Sockets.bind(descriptor, to: any) == 0, listen(descriptor, 64) == 0,
            let bound = Sockets.localAddress(descriptor)
        else { throw RawSocket.Failure(call: "listen", error: errno) }
        self.descriptor = descriptor
        port = bound.port
        Threads.start(name: "test-listener") { [weak self] in
            while true {
                let accepted = accept(descriptor, nil, nil)
                guard accepted >= 0, let self else {
                    // Closed here and not by `deinit`: a number given back too early is soon somebody else's.
                    if accepted >= 0 { close(accepted) }
                    close(descriptor)
                    return
                }
                let index = self.count.withLock { count in
                    defer { count += 1 }
                    return count
                }
                let script = scripts[min(index, scripts.count - 1)]
                Threads.start(name: "test-script") {
                    let socket = RawSocket(accepted)
                    // A script that fails hangs up, so that the other side need not wait for its time to run out.
                    do { try script(socket) } catch { socket.finishWriting() }
                }
            }
        }
    }

    deinit { shutdown(descriptor, Int32(SHUT_RDWR)) }

    func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }
}
