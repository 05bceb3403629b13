import Encoding
import HTTP
import Transport

/// The measurement of `probe load`: small keep-alive requests from our clients to our server.
enum ProbeLoad {
    static func run(_ options: ProbeOptions) async -> Int32 {
        let requests = options.number("requests", default: 200_000)
        let connections = max(1, options.number("connections", default: 64))
        let clients = max(1, options.number("clients", default: 1))
        let loops = EventLoopGroup(threads: max(1, options.number("loops", default: 2)))
        do throws(TransportError) {
            let server = try await HTTPServer.start(loops: loops, handler: ProbeServer())
            guard let url = try? HTTPURL("http://127.0.0.1:\(server.port)/head") else { return 1 }
            let pool = (0..<clients).map { _ in HTTPClient(loops: loops) }
            let clock = ContinuousClock()
            let start = clock.now
            let failures = await load(url, pool, each: requests / connections, times: connections)
            let seconds = (clock.now - start) / .seconds(1)
            Probe.say([
                "requests": .int(Int64(requests / connections * connections)), "failures": .int(Int64(failures)),
                "seconds": .double(seconds), "per_second": .int(Int64(Double(requests) / seconds)),
            ])
            await server.shutdown()
            return failures == 0 ? 0 : 1
        } catch {
            return Probe.fail(error)
        }
    }

    private static func load(_ url: HTTPURL, _ clients: [HTTPClient], each count: Int, times: Int) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for number in 0..<times {
                let client = clients[number % clients.count]
                group.addTask {
                    var failures = 0
                    for _ in 0..<count where await !succeeds(url, client) { failures += 1 }
                    return failures
                }
            }
            return await group.reduce(0, +)
        }
    }

    private static func succeeds(_ url: HTTPURL, _ client: HTTPClient) async -> Bool {
        (try? await client.send(ClientRequest(url: url)))?.status == 200
    }
}
