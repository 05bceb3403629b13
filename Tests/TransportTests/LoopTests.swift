import HTTP
import Synchronization
import Testing

@testable import Transport

/// The event loop and its timers.
@Suite(.timeLimit(.minutes(1))) struct LoopTests {
    @Test func `jobs of one thread run in the order they were queued`() async throws {
        let group = EventLoopGroup(threads: 1)
        let loop = try #require(group.loops.first)
        let seen = Mutex<[Int]>([])
        for number in 0..<10_000 { loop.execute { seen.withLock { $0.append(number) } } }
        await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
        #expect(seen.withLock { $0 } == Array(0..<10_000))
    }

    @Test func `timers fire in the order of their deadlines, and not when cleared`() async throws {
        let group = EventLoopGroup(threads: 1)
        let loop = try #require(group.loops.first)
        let fired = Mutex<[String]>([])
        await withCheckedContinuation { continuation in
            loop.execute {
                let timers = ["late", "never", "early"].map { name in
                    LoopTimer { fired.withLock { $0.append(name) } }
                }
                loop.set(timers[0], milliseconds: 20)
                loop.set(timers[1], milliseconds: 10)
                loop.set(timers[2], milliseconds: 5)
                loop.clear(timers[1])
                loop.set(LoopTimer { continuation.resume() }, milliseconds: 30)
            }
        }
        #expect(fired.withLock { $0 } == ["early", "late"])
    }

    @Test func `a heap of timers agrees with a sorted list`() {
        var random = SplitMix(state: 42)
        for _ in 0..<200 {
            var heap = TimerHeap()
            var fired: [Int] = []
            let timers = (0..<20).map { number in LoopTimer { fired.append(number) } }
            var model: [Int: UInt64] = [:]
            var now: UInt64 = 0
            for _ in 0..<300 {
                let number = Int(random.next() % 20)
                switch random.next() % 4 {
                case 0, 1:
                    let due = now + 1 + random.next() % 100
                    heap.set(timers[number], due: due)
                    model[number] = due
                case 2:
                    heap.clear(timers[number])
                    model[number] = nil
                default:
                    now += random.next() % 30
                    fired = []
                    while let action = heap.popDue(now: now) { action() }
                    #expect(Set(fired) == Set(model.filter { $0.value <= now }.keys))
                    #expect(fired.compactMap { model[$0] } == fired.compactMap { model[$0] }.sorted())
                    model = model.filter { $0.value > now }
                }
                if let least = model.values.min(), let next = heap.next { #expect(next <= least) }
            }
        }
    }

    @Test func `cancelled deadlines do not pile up`() {
        var heap = TimerHeap()
        for number in 0..<100_000 {
            let timer = LoopTimer {}
            heap.set(timer, due: UInt64(1_000_000 + number))
            heap.clear(timer)
        }
        #expect(heap.count < 2000)
    }

    @Test func `a deadline moved later again and again stays one entry`() {
        var heap = TimerHeap()
        let timer = LoopTimer {}
        for number in 1..<100_000 { heap.set(timer, due: UInt64(number)) }
        #expect(heap.count == 1)
        #expect(heap.popDue(now: 99_998) == nil)
        #expect(heap.popDue(now: 99_999) != nil)
    }

    @Test func `output leaves in order and whole, however it was cut`() {
        var random = SplitMix(state: 7)
        for _ in 0..<200 {
            var queue = OutputQueue()
            var written: [UInt8] = []
            var sent: [UInt8] = []
            for _ in 0..<100 {
                if random.next() % 2 == 0 || queue.isEmpty {
                    let size = random.next() % 10 == 0 ? 20_000 : Int(random.next() % 300)
                    let piece = [UInt8](repeating: UInt8(truncatingIfNeeded: random.next()), count: size)
                    written += piece
                    queue.append(piece)
                } else {
                    let part = queue.withFirst { Array($0.prefix(1 + Int(random.next() % 5000))) }
                    sent += part
                    queue.drop(part.count)
                }
                #expect(queue.count == written.count - sent.count)
            }
            while !queue.isEmpty {
                let part = queue.withFirst { Array($0) }
                sent += part
                queue.drop(part.count)
            }
            #expect(sent == written)
        }
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.255.0.9", true), ("::1", true), ("::ffff:127.0.0.1", true), ("10.0.0.1", false),
        ("fe80::1", false), ("0.0.0.0", false),
    ])
    func `addresses of this machine are known`(literal: String, isLoopback: Bool) throws {
        #expect(try #require(SocketAddress(literal: literal, port: 1)).isLoopback == isLoopback)
    }

    @Test(arguments: ["", "1.2.3", "1.2.3.4.5", "01.2.3.4", "::g", "[::1]", "localhost"])
    func `what is no address is none`(literal: String) {
        #expect(SocketAddress(literal: literal, port: 1) == nil)
    }

    @Test func `state of a loop touched on another thread stops the program`() async {
        await #expect(processExitsWith: .failure) {
            EventLoopGroup(threads: 1).loops[0].assertInside()
        }
    }

    @Test func `a request answered twice stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let reply = Reply { _ in }
            reply.send(.init(status: 204))
            reply.send(.init(status: 204))
        }
    }
}

/// A small repeatable source of numbers.
private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
