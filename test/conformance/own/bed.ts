// A gateway whose one model, `own-model`, is routed to a scripted provider of one family.
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { simulatedPrices } from '../pairs/play.ts';

export function openOwnBed(family: string, baseUrl: string): Promise<Testbed> {
  return openTestbed({
    catalog: {
      providers: [
        {
          name: 'own',
          family,
          base_url: baseUrl,
          simulated: true,
          // It is to be told what the vendor of the format knows.
          quirks: { custom_tools: true },
        },
      ],
      models: [
        {
          alias: 'own-model',
          routes: [{ provider: 'own', upstream_model: 'own-upstream' }],
          price: simulatedPrices,
          capabilities: ['chat', 'tools', 'reasoning'],
        },
      ],
    },
  });
}
