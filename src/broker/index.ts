/** Room: broker. Connects to an MQTT broker, and names the topics of devices. Sees base. */
export { BrokerLink, type BrokerPlace } from './broker-link.ts'
export {
  allReceipts,
  DEFAULT_PREFIX,
  deviceOfTopic,
  downlinkTopic,
  receiptTopic,
} from './topics.ts'
