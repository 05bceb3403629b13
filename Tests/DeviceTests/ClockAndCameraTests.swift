import Device
import Encoding
import Foundation
import Testing

@Suite struct `Device clock` {
    let wall = Instant(milliseconds: 1_790_000_000_123)

    @Test func `a real clock is the wall clock, an offset one is beside it, a frozen one stands`() {
        #expect(DeviceClock.real.now(wall: wall) == wall)
        #expect(DeviceClock.offset(seconds: -90).now(wall: wall) == wall.adding(seconds: -90))
        let frozen = DeviceClock.frozen(at: Instant(seconds: 5))
        #expect(frozen.now(wall: wall) == Instant(seconds: 5))
        #expect(frozen.now(wall: wall.adding(seconds: 1_000)) == Instant(seconds: 5))
    }

    @Test(arguments: [DeviceClock.real, .offset(seconds: 40), .offset(seconds: -40), .frozen(at: Instant(seconds: 9))])
    func `advancing moves any clock by exactly the seconds asked, and back`(_ clock: DeviceClock) throws {
        let advanced = try clock.advanced(bySeconds: 3_600)
        #expect(advanced.now(wall: wall) == clock.now(wall: wall).adding(seconds: 3_600))
        #expect(try advanced.advanced(bySeconds: -3_600).now(wall: wall) == clock.now(wall: wall))
    }

    @Test func `a frozen clock stays frozen when it is advanced`() throws {
        let advanced = try DeviceClock.frozen(at: Instant(milliseconds: 5_250)).advanced(bySeconds: 1)
        #expect(advanced == .frozen(at: Instant(milliseconds: 6_250)))
    }

    @Test func `a clock cannot be moved centuries away, in one step or in many`() throws {
        let far = DeviceClock.furthestSeconds
        #expect(throws: DeviceTextError.self) { try DeviceClock.real.advanced(bySeconds: .max) }
        #expect(throws: DeviceTextError.self) { try DeviceClock.real.advanced(bySeconds: .min) }
        #expect(throws: DeviceTextError.self) { try DeviceClock.offset(seconds: far).advanced(bySeconds: 1) }
        let early = DeviceClock.frozen(at: Instant(seconds: 5))
        #expect(throws: DeviceTextError.self) { try early.advanced(bySeconds: -6) }
        #expect(throws: DeviceTextError.clockOutOfRange("+300000d")) { try DeviceClock(text: "+300000d") }
        #expect(try DeviceClock.real.advanced(bySeconds: far) == .offset(seconds: far))
    }
}

@Suite struct `Virtual camera` {
    @Test func `scripted scans come in order, then the fallback for ever`() throws {
        let script: [ScanOutcome] = [.mismatch, .badCapture(.blurred), .match, .mismatch]
        var camera = try Camera(queue: script, fallback: .cancel)
        let shown = (0..<8).map { _ in camera.next() }
        #expect(shown == script + Array(repeating: .cancel, count: 4))
        try camera.append([.hang])
        #expect(camera.next() == .hang)
        #expect(camera.next() == .cancel)
    }

    @Test func `clearing forgets the script and keeps the fallback`() throws {
        var camera = try Camera(queue: [.mismatch], fallback: .hang)
        camera.clearQueue()
        #expect(camera.next() == .hang)
    }

    @Test func `a queue past its bound is refused whole`() throws {
        var camera = try Camera(queue: Array(repeating: .match, count: 255))
        #expect(throws: DeviceTextError.cameraQueueFull(limit: 256)) { try camera.append([.match, .match]) }
        #expect(camera.queue.count == 255)
        try camera.append([.mismatch])
        #expect(camera.queue.count == Camera.longestQueue)
    }

    @Test func `an overlong queue is refused from stored JSON as well`() throws {
        let scans = Array(repeating: "\"match\"", count: 257).joined(separator: ",")
        let json = Data("{\"queue\":[\(scans)],\"fallback\":\"match\"}".utf8)
        #expect(throws: (any Error).self) { try JSONDecoder().decode(Camera.self, from: json) }
    }
}
